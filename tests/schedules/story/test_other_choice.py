"""A race at another choice than the isolated one, which only lets its effect be seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.story import kinds
from tests.schedules.story.programs_explained import explained

SEARCH = """\
import threading
from concurrent.futures import ThreadPoolExecutor

WORDS = ["race", "racer", "rabbit", "radio"]


class Search:
    def __init__(self):
        self.pool = ThreadPoolExecutor(2)
        self.newest, self.shown = 0, None

    def type(self, text):
        self.newest += 1
        number = self.newest
        future = self.pool.submit(lambda: [word for word in WORDS if word.startswith(text)])
        future.add_done_callback(lambda done: self.show(number, done.result()))

    def show(self, number, found):
        if number < self.newest:
            return
        line = self.format(number, found)
        self.shown = line

    def format(self, number, found):
        return "%d: %s" % (number, ", ".join(found))


search = Search()
for text in ("r", "ra", "rac"):
    search.type(text)
search.pool.shutdown()
assert search.shown == "3: race, racer", search.shown
"""

EDITOR = """\
import threading

class Editor:
    def __init__(self):
        self.text = ""
        self.saved = None
        self.timers = []

    def typed(self, character):
        self.text += character
        timer = threading.Timer(0.01, self.save)
        self.timers.append(timer)
        timer.start()

    def save(self):
        text = self.text
        self.write(text)

    def write(self, text):
        self.saved = text

editor = Editor()
editor.typed("a")
editor.typed("b")
for timer in editor.timers:
    timer.join()
assert editor.saved == "ab", editor.saved
"""


@pytest.mark.once
def test_an_answer_that_is_out_of_date_when_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "search.py").write_text(SEARCH)
    explanation, _ = explained(tmp_path / "search.py", tmp_path / "run")
    assert explanation.story is not None, explanation.why_not
    assert explanation.story.kind == kinds.CHECK_THEN_ACT
    conflict = explanation.conflict
    assert conflict is not None
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.left.access.place.line, conflict.right.access.place.line) == (19, 22)


@pytest.mark.once
def test_an_old_text_that_is_saved_after_the_newer_one(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "editor.py").write_text(EDITOR)
    explanation, _ = explained(tmp_path / "editor.py", tmp_path / "run")
    assert explanation.story is not None, explanation.why_not
    assert explanation.story.kind == kinds.CHECK_THEN_ACT
    assert explanation.story.summary.startswith("What thread 0.1 has seen (editor.py:16) no longer holds")
    assert explanation.conflict is not None
    assert explanation.conflict.right is not None
    assert explanation.conflict.right.access.place.line == 20

"""Whether a wait stands in a loop that looks at the state, and what is advised then."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.hang import Hang, HangFrame
from replay_dd.schedules.story.wait_loops import waits_in_loop
from tests.schedules.story.test_hanging import ENDING, hang, step, thing, thread, verdict_of

pytestmark = pytest.mark.once

IN_LOOP = """
    def work(self):
        with self.changed:
            while not self.ready:
                self.changed.wait()
    """
BEHIND_IF = """
    def work(self):
        with self.changed:
            if not self.ready:
                self.changed.wait()
    """
IN_A_LOOP_OF_WORK = """
    def work(self):
        while self.running:
            with self.changed:
                self.changed.wait()
    """
FOR_EVER = """
    def work(self):
        with self.changed:
            while True:
                self.changed.wait()
    """
IN_HANDLER = """
    def work(self):
        with self.changed:
            try:
                self.start()
            except KeyError:
                while not self.ready:
                    self.changed.wait()
    """


def hung(folder: Path, text: str, *inner: HangFrame) -> Hang:
    """Thread 0.1 waits in a program, after another thread has notified."""
    path = folder / "prog.py"
    path.write_text(textwrap.dedent(text).lstrip())
    line = 1 + path.read_text().splitlines().index(next(one for one in path.read_text().splitlines() if "wait(" in one))
    own = HangFrame("prog.py", str(path), line, "work", True)
    parts = [thread("0.1", 1, stack=0), thing(1, "Condition"), step(1, "0.2", "notifies", 3, "nobody waits")]
    return replace(hang(*parts), stacks=((*inner, own),))


@pytest.mark.parametrize(
    ("text", "loops"),
    [(IN_LOOP, True), (IN_HANDLER, True), (BEHIND_IF, False), (IN_A_LOOP_OF_WORK, False), (FOR_EVER, False)],
)
def test_only_a_loop_that_looks_at_the_state_counts(tmp_path: Path, text: str, loops: bool) -> None:
    found = hung(tmp_path, text)
    assert waits_in_loop(found, found.threads[0]) == loops
    assert bool(verdict_of(found, ENDING).help) != loops


def test_wait_for_loops_itself(tmp_path: Path) -> None:
    inner = HangFrame("threading.py", "threading.py", 1, "Condition.wait_for", counted=False)
    found = hung(tmp_path, BEHIND_IF, inner)
    assert waits_in_loop(found, found.threads[0])


@pytest.mark.parametrize("text", [None, "def work(:"])
def test_a_source_that_cannot_be_read_shows_no_loop(tmp_path: Path, text: str | None) -> None:
    found = hung(tmp_path, IN_LOOP)
    path = tmp_path / "prog.py"
    path.unlink() if text is None else path.write_text(text)
    assert not waits_in_loop(found, found.threads[0])

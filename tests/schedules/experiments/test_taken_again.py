"""Where a proposed lock would be taken twice by one thread."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.report.tried import tried_in_words
from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.experiments.taken_again import taken_again, to_be_widened
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.experiment_results import PREVENTS, Attempt, Counts, Experiments
from replay_dd.schedules.virtual import Region, VirtualLock
from tests.schedules.experiments.fakes import access, program_with

pytestmark = pytest.mark.once

TEXT = """\
class Stock:
    def reserve(self):
        if self.free():
            self.take()
    def free(self):
        with self._lock:
            return self.left
    def take(self):
        with self._lock:
            self.left -= 1
"""
LOCK = VirtualLock((Region("prog.py", "Stock.reserve", 3, 4),), "self._lock")


def takes(line: int, *callers: tuple[str, int], kind: str = "lock") -> Access:
    inner = ("Stock.free" if line < 8 else "Stock.take", line)
    return access("0.1", *callers, inner, does="acquires", thing=("lock", 7, ""))._replace(holder_type=kind)


def test_a_plain_lock_that_code_inside_takes_is_found_with_its_places(tmp_path: Path) -> None:
    sources = Sources(program_with(tmp_path, prog_py=TEXT))
    inside = [takes(line, ("Stock.reserve", caller)) for line, caller in ((6, 3), (9, 4), (6, 3))]
    assert taken_again(LOCK, Observation(tuple(inside), {}), sources) == ("prog.py:6", "prog.py:9")
    others = (takes(6, ("main", 20)), takes(6, ("Stock.reserve", 3), kind="RLock"))
    assert taken_again(LOCK, Observation(others, {}), sources) == ()
    assert taken_again(replace(LOCK, taking=""), Observation(tuple(inside), {}), sources) == ()


def test_a_with_that_is_one_statement_of_a_region_has_to_reach_farther(tmp_path: Path) -> None:
    text = TEXT + "        self.tell()\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    lock = VirtualLock((Region("prog.py", "Stock.take", 9, 11),), "self._lock")
    failing = Observation((takes(9), takes(6, ("Stock.take", 11))), {})
    assert to_be_widened(lock, failing, sources) == ("prog.py:9",)
    assert taken_again(lock, failing, sources) == ("prog.py:6",)
    assert to_be_widened(replace(lock, regions=(Region("prog.py", "Stock.take", 9, 10),)), failing, sources) == ()
    assert to_be_widened(LOCK, Observation((takes(6, ("Stock.reserve", 3)),), {}), sources) == ()


def test_a_lock_of_its_own_is_taken_again_where_a_region_calls_another(tmp_path: Path) -> None:
    sources = Sources(program_with(tmp_path, prog_py=TEXT))
    lock = VirtualLock((Region("prog.py", "Stock.reserve", 3, 4), Region("prog.py", "Stock.take", 9, 10)))
    both = (takes(9), takes(9, ("Stock.reserve", 4)))
    assert taken_again(lock, Observation(both, {}), sources) == ("prog.py:9",)
    assert taken_again(lock, Observation(both[:1], {}), sources) == ()


def test_it_is_told_what_else_has_to_be_changed() -> None:
    attempt = Attempt(LOCK, Counts(3, 0), Counts(3, 2), PREVENTS, again=("prog.py:6", "prog.py:9"))
    texts = [text.strip() for _, text in tried_in_words(Experiments((attempt,)))]
    assert texts[0] == "taking self._lock at prog.py:3-4:"
    assert texts[2].startswith("it is a Lock and taken again at prog.py:6 and prog.py:9: make it an RLock")
    own = attempt._replace(virtual=replace(LOCK, taking=""), again=("prog.py:9",), widened=("prog.py:3",))
    texts = [text.strip() for _, text in tried_in_words(Experiments((own,)))]
    assert texts[2:4] == [
        "let the `with` at prog.py:3 reach over all of it",
        "prog.py:9 is also reached from inside, so it has to be an RLock",
    ]

"""What installed packages do for a program, names as they are written, and values that need not be shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.report.story import story_as_text
from replay_dd.schedules.model import Place
from replay_dd.schedules.observed.observation import Observation, StackFrame, Value, _as_written
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.own_value import own_value_in_words
from replay_dd.schedules.story.tell import tell_race
from tests.schedules.experiments.fakes import program_with
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access, conflict_of

pytestmark = pytest.mark.once


def test_what_a_package_does_is_told_with_the_call_of_the_program(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("cache = make()\ncache['a'] = 1\n", encoding="utf-8")
    program = program_with(tmp_path, prog_py="cache = make()\ncache['a'] = 1\n")
    stack = (
        StackFrame("pack/__init__.py", "/lib/site-packages/pack/__init__.py", 40, "Cache.put", True),
        StackFrame("prog.py", "prog.py", 2, "<module>", True),
    )
    place = Place("pack/__init__.py", stack[0].path, 40, 1, "Cache.put", "STORE_ATTR", True)
    accesses = [
        access("0.1", 4, 4, "reads", stack=stack, place=place),
        access("0.2", 1, 5, "stores", stack=stack, place=place),
        access("0.1", 5, 9, "stores", stack=stack, place=place),
    ]
    seen = Observation(tuple(accesses), {})
    story = tell_race(conflict_of(accesses, 5, 5), seen, Observation((), {}), PASSED)
    assert story is not None
    assert "All of this happens inside pack, which these lines call." in story.summary
    assert "(prog.py:2)" in story.summary
    assert "(prog.py:2)" in story.passes
    told = list(story_as_text(Explanation(story), program))
    assert sum(line.split() == ["prog.py:2", "cache['a']", "=", "1", "calls", "pack:"] for line in told) == 3
    own = [one._replace(stack=stack[1:]) for one in accesses]
    story = tell_race(conflict_of(own, 5, 5), seen, seen, PASSED)
    assert story is not None
    assert "inside" not in story.summary


def test_a_name_that_the_interpreter_mangles_is_told_as_it_is_written() -> None:
    names = {
        "LRUCache._Cache__data['cid']": "LRUCache.__data['cid']",
        "Thing._lock": "Thing._lock",
        "Thing.__dict__": "Thing.__dict__",
        "Thing._a__b__": "Thing._a__b__",
    }
    assert {name: _as_written(name) for name in names} == names


def test_what_each_thread_stores_for_itself_need_not_be_shared() -> None:
    """A module variable that each request sets and reads."""
    one, two, none = (Value(f"'{name}'", "str", -1) for name in ("ada", "ben", ""))
    stores = [access(thread, 1, 0, "stores", new=value) for thread, value in (("0.1", one), ("0.2", two))]
    reads = [access(thread, 2, 0, "reads", old=value) for thread, value in (("0.1", one), ("0.2", two))]
    apart = Observation((stores[0], reads[0], stores[1], reads[1]), {})
    assert "give each thread its own" in own_value_in_words(stores[0], apart)
    for others in (
        (stores[0], reads[0], reads[1]),  # it reads what the other one has stored
        (stores[0], reads[0], stores[1], reads[1]._replace(old=none)),
        (stores[0], reads[0], stores[1]),  # only one thread reads
        (*apart.accesses, access("0.1", 3, 0, "calls", writes=True)),
    ):
        assert own_value_in_words(stores[0], Observation(others, {})) == ""

"""Hangs whose story begins at the exception that ended a thread."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.hang import Hang, HangFrame
from replay_dd.schedules.model import Ending
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.deadlock import tell_deadlock
from replay_dd.schedules.story.story import Story
from tests.schedules.story.test_hanging import ENDING, died, hang, step, thing, thread

DEATH = "An exception ended thread 0.1: ValueError: bad at prog.py:7 in parse. "
WAITS = thread("0.2", 1), thread("0.1")


def told(failing: Hang, passing: Hang | None, ending: Ending) -> tuple[Story, str]:
    story = tell_deadlock(failing, passing, ending)
    assert story.hang is not None
    return story, story.hang.verdict.help


def test_a_producer_that_died_is_told_before_who_waits_for_it() -> None:
    failing = hang(*WAITS, thing(1, "Queue", state="empty"), step(1, "0.1", "puts into", 1))
    story, _ = told(failing, None, died("0.1"))
    assert story.summary.startswith(f"{DEATH}Thread 0.2 waits for an item in thing1")
    assert story.summary.count("An exception ended") == 1


def test_the_main_thread_dies_like_any_other() -> None:
    things = thing(1, "Queue", state="empty")
    failing = hang(thread("0"), *WAITS, things)
    passing = hang(things, step(1, "0", "puts into", 1))
    story, _ = told(failing, passing, died("main"))
    assert story.summary.startswith("An exception ended thread 0: ValueError: bad at prog.py:7 in parse. Thread 0.2")


def test_who_was_notified_by_others_waits_for_the_one_that_died() -> None:
    condition = thing(1, "Condition")
    others = step(1, "0.2", "waits", 1, stack=1), step(1, "0.3", "notifies all of", 2), step(1, "0.2", "waits", 3)
    failing, passing = hang(*WAITS, condition, *others), hang(condition, *others, step(1, "0.1", "notifies", 4))
    story, help_ = told(failing, passing, died("0.1"))
    assert story.summary.startswith(f"{DEATH}Thread 0.2 waits to be notified of thing1.")
    assert story.kind == kinds.NEVER_COMES
    assert help_ == "notify thing1 on every way out of thread 0.1, exceptions too: in a `finally:`"


@pytest.mark.parametrize(("line", "is_cause"), [(9, True), (7, False), (5, False)])
def test_others_show_what_the_one_that_died_was_to_do(line: int, is_cause: bool) -> None:
    """Without a passing run, as in a hunt."""
    condition, stack = thing(1, "Condition"), (HangFrame("prog.py", "/prog.py", line, "parse", counted=True),)
    given = step(1, "0.3", "notifies", 1, stack=0), step(1, "0.2", "waits", 2)
    story, _ = told(replace(hang(*WAITS, condition, *given), stacks=(stack,)), None, died("0.1"))
    assert story.summary.startswith(DEATH) == is_cause
    assert story.kind == (kinds.NEVER_COMES if is_cause else kinds.MISSED_NOTIFICATION)


def test_a_death_that_nobody_waits_for_is_no_cause() -> None:
    condition = thing(1, "Condition")
    given = step(1, "0.3", "notifies", 1), step(1, "0.2", "waits", 2)
    failing = hang(*WAITS, condition, *given)
    for passing in (None, failing):
        story, _ = told(failing, passing, died("0.1"))
        assert story.kind == kinds.MISSED_NOTIFICATION
        assert "exception" not in story.summary
    assert "exception" not in told(failing, None, ENDING)[0].summary

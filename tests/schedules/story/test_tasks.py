"""The race of two tasks of one event loop."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.tasks import tell_tasks
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access
from tests.schedules.story.test_victim import seen


def reads(task: int, thread: str = "0.1") -> Access:
    return access(thread, 1, 1, "reads", task=task)


def stores(task: int, thread: str = "0.1") -> Access:
    return access(thread, 2, 2, "stores", task=task)


IN_TURN = seen(reads(1), stores(1), reads(2), stores(2))


def test_a_task_that_goes_on_with_what_it_has_read_is_told() -> None:
    failing = seen(reads(1), reads(2), stores(1), stores(2))
    told = tell_tasks(failing, IN_TURN, PASSED)
    assert told is not None
    conflict, story = told
    assert conflict.of_tasks
    assert story.kind == kinds.LOST_UPDATE
    assert [turn.thread for turn in story.turns] == ["0.1 (task 2)", "0.1 (task 1)", "0.1 (task 2)"]
    assert "asyncio.Lock" in story.help
    assert story.turns[0].then.startswith("awaits")


@pytest.mark.parametrize(
    "accesses",
    [
        (reads(1), stores(1), reads(2), stores(2)),
        (reads(1), reads(2), stores(1), reads(2), stores(2)),  # it reads anew
        (reads(1), stores(2)._replace(thing=Y), stores(1)),
        (reads(0), stores(0, "0.2"), stores(0)),  # threads
        (reads(1), stores(1, "0.2"), stores(1)),  # a task of another event loop
    ],
)
def test_nothing_is_told_of_tasks_that_come_one_after_the_other(accesses: tuple[Access, ...]) -> None:
    assert tell_tasks(seen(*accesses), seen(), PASSED) is None


def test_what_happens_in_the_passing_run_as_well_is_not_the_race() -> None:
    failing = seen(reads(1), reads(2), stores(1), stores(2))
    assert tell_tasks(failing, failing, PASSED) is None

"""The conflict of the first look that found something else than in the passing run."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.first_difference import MOST, conflicts_of_first_looks
from tests.schedules.story.made_accesses import Y, access, number
from tests.schedules.story.test_victim import seen


def look(thread: str, found: int, time: int = 1) -> Access:
    return access(thread, time, 1, "reads", old=number(found), tested=True)


STORED = access("0.1", 9, 9, "stores", new=number(2))


def test_a_look_that_came_too_early_is_told_with_the_late_store() -> None:
    failing, passing = seen(look("0.2", 1), STORED), seen(STORED, look("0.2", 2))
    (conflict,) = conflicts_of_first_looks(failing, passing)
    assert (conflict.thread, conflict.left) == ("0.1", None)
    assert conflict.right is not None
    assert (conflict.right.access, conflict.right.others) == (failing.accesses[1], (failing.accesses[0],))


def test_a_look_that_came_too_late_is_told_with_the_early_store() -> None:
    failing, passing = seen(STORED, look("0.2", 2)), seen(look("0.2", 1), STORED)
    (conflict,) = conflicts_of_first_looks(failing, passing)
    assert conflict.thread == "0.2"
    assert conflict.right is not None
    assert (conflict.right.access, conflict.right.others) == (failing.accesses[1], (failing.accesses[0],))


def test_the_late_store_may_be_that_of_another_thread_in_the_passing_run() -> None:
    own = STORED._replace(thread="0.2")
    failing, passing = seen(look("0.2", 1), STORED), seen(own, look("0.2", 2))
    (conflict,) = conflicts_of_first_looks(failing, passing)
    assert conflict.right is not None
    assert conflict.right.access == failing.accesses[1]
    other = STORED._replace(new=number(3))  # not what it found in the passing run
    assert list(conflicts_of_first_looks(seen(look("0.2", 1), other), passing)) == []


def test_a_look_counts_if_it_decides_and_another_thread_stored_on_its_other_side() -> None:
    for failing, passing in (
        (seen(look("0.2", 1)._replace(tested=False), STORED), seen(STORED, look("0.2", 2)._replace(tested=False))),
        (seen(look("0.2", 1), STORED), seen(STORED, look("0.2", 1))),  # it finds the same
        (seen(look("0.1", 1), STORED), seen(STORED, look("0.1", 2))),  # its own thread
        (seen(look("0.2", 1), STORED._replace(thing=Y)), seen(STORED._replace(thing=Y), look("0.2", 2))),
        (seen(look("0.2", 1), STORED), seen(look("0.2", 2), STORED)),  # the order is the same
    ):
        assert list(conflicts_of_first_looks(failing, passing)) == []


def test_the_earliest_looks_come_first_and_only_some_are_tried() -> None:
    looks = [look("0.2", 1, time) for time in range(1, MOST + 3)]
    late = [look("0.2", 2, time) for time in range(1, MOST + 3)]
    found = list(conflicts_of_first_looks(seen(*looks, STORED), seen(STORED, *late)))
    assert [one.right.others[0].time for one in found if one.right] == list(range(1, MOST + 1))

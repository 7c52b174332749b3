"""What a story shows of the passing run."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.tell import _Teller, tell_race
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access, conflict_of, number
from tests.schedules.story.test_victim import seen

OTHER = ("attribute", 2, "x")  # of another object, which the code calls the same
LATER = ("attribute", 3, "x")  # of one that is first seen after the two runs have parted
LOOKS = access("0.1", 1, 1, "reads", tested=True)
STORES = access("0.1", 2, 9, "stores")
CHANGES = access("0.2", 4, 5, "stores")


def shown(*more: Access) -> list[tuple[str, str]]:
    """What is shown of the passing run, in which this comes last."""
    apart = access("0.2", 3, 0, "reads", OTHER)
    failing = seen(apart, LOOKS, CHANGES, STORES)
    passing = seen(apart, LOOKS, STORES, CHANGES, *more)
    story = tell_race(conflict_of([*failing.accesses], 2, 2), failing, passing, PASSED, ())
    assert story is not None
    return [(thread, step.words) for thread, step in story.passing]


def test_the_same_lines_with_another_object_are_no_part_of_the_passing_run() -> None:
    about_it = shown()
    assert [thread for thread, _ in about_it] == ["0.1", "0.1", "0.2"]
    assert shown(CHANGES._replace(thing=OTHER, new=number(3))) == about_it
    assert shown(CHANGES._replace(thing=LATER, new=number(3))) != about_it, "it may be the same one"


def test_the_failing_run_may_do_it_to_an_object_that_only_the_race_has_made() -> None:
    failing = seen(LOOKS, CHANGES._replace(thing=LATER), STORES)
    passing = seen(LOOKS, STORES, CHANGES)
    conflict = conflict_of([*seen(LOOKS, CHANGES, STORES).accesses], 2, 2)
    teller = _Teller(conflict, failing, passing, PASSED, ())
    assert [thread for thread, _ in teller._passing(failing.accesses)] == ["0.1", "0.1", "0.2"]

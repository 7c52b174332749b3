"""Which threads may share work, from what they touched."""

from __future__ import annotations

from replay_dd.schedules.hunting.pools import threads_alike, touched_again
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.runtime.channel import LOCK


def touch(thread: str, time: int, thing: tuple[int, str], *, changes: bool, place: int) -> Touch:
    return Touch(thread, time, time, place, thing, changes, ())


def test_only_what_one_thread_alone_touches_again_and_changes() -> None:
    own, shared, kept, lock = (1, "own"), (2, "shared"), (3, "kept"), (4, LOCK)
    touches = [
        touch("0.1", 10 * number + time, thing, changes=thing is not kept and time == 2, place=time)
        for number, thing in enumerate((own, shared, kept, lock))
        for time in (1, 2)
    ]
    assert list(touched_again(touches, {shared})) == [touches[1]]


def test_those_with_most_places_in_common_come_first_and_those_with_none_not_at_all() -> None:
    places = {"0.1": (1, 2, 3), "0.2": (3, 4), "0.3": (1, 2), "0.4": (5,), "0.5": (1, 2, 3)}
    touches = [touch(name, 1, (1, "x"), changes=False, place=place) for name in places for place in places[name]]
    assert threads_alike(touches, ["0.1"], ["0.1", "0.2", "0.3", "0.4", "0.9"]) == {"0.1": ["0.3", "0.2"]}


def test_of_many_that_are_the_same_each_thread_gets_the_first_ones_but_itself() -> None:
    names = [f"0.{number}" for number in range(1, 10)]
    touches = [touch(name, 1, (1, "x"), changes=False, place=place) for name in names for place in (1, 2)]
    alike = threads_alike(touches, names, names)
    assert alike["0.2"] == ["0.1", "0.3", "0.4"]
    assert alike["0.9"] == ["0.1", "0.2", "0.3"]

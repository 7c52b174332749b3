"""Looks that come before a lock is taken, and are not made again under it."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.second_look import help_of_second_look
from tests.schedules.story.made_accesses import access, conflict_of
from tests.schedules.story.test_victim import seen


def told(look: tuple[int, ...], other: tuple[int, ...], act: tuple[int, ...], kind: str = kinds.CHECK_THEN_ACT) -> str:
    accesses = [
        access("0.1", 1, 1, "reads", tested=True, held=look),
        access("0.2", 1, 6, "stores", held=other),
        access("0.1", 9, 9, "stores", held=act),
    ]
    return help_of_second_look(kind, conflict_of(accesses, 2, 5), replace(seen(*accesses), locks={3: "guard", 4: "b"}))


def test_a_lock_that_is_taken_between_the_look_and_the_act_needs_a_second_look() -> None:
    assert "look at Thing.x once more when guard is held" in told((), (3,), (3,))
    assert "when guard is held" in told((4,), (3, 4), (3, 4))


def test_other_locks_do_not_make_one_wait_for_the_other() -> None:
    assert told((), (4,), (3,)) == told((3,), (3,), (3,)) == told((), (), (3,)) == told((), (9,), (9,)) == ""
    assert told((), (3,), (3,), kinds.LOST_UPDATE) == ""


def test_what_was_seen_in_one_section_may_be_gone_in_the_next_one() -> None:
    look, take = {"held": (3,)}, {"held": (3,), "reads": True, "writes": True, "detail": "heappop()"}
    between = access("0.1", 8, 8, "acquires", ("lock", 3, ""))
    for tested in (True, False):
        accesses = [
            access("0.1", 1, 1, "reads", tested=tested, **look),
            access("0.2", 1, 6, "stores", held=(3,)),
            between,
            access("0.1", 9, 9, "calls", **take),
        ]
        conflict = conflict_of(accesses, 2, 5)
        failing = replace(seen(*accesses), locks={3: "guard"})
        conflict = conflict._replace(
            left=conflict.left and conflict.left._replace(access=failing.accesses[0]),
            right=conflict.right and conflict.right._replace(access=failing.accesses[3]),
        )
        words = help_of_second_look(kinds.CHECK_THEN_ACT, conflict, failing)
        assert "once more when guard is held: it may have changed since the thread gave it back" in words
        whole = replace(failing, accesses=tuple(one for one in failing.accesses if one.does != "acquires"))
        assert help_of_second_look(kinds.CHECK_THEN_ACT, conflict, whole) == ""

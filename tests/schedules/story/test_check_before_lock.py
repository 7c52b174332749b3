"""A check outside of the lock under which its thread then acts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.check_before_lock import with_act_under_lock
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.links import Link, Links
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import X, Y, access
from tests.schedules.story.programs_explained import explained
from tests.schedules.story.test_victim import seen

OUTBOX = """\
import threading


class Outbox:
    def __init__(self):
        self.lock = threading.Lock()
        self.closed, self.waiting, self.sent = False, [], []

    def add(self, letter):
        if self.closed:
            return
        with self.lock:
            self.waiting.append(letter)

    def close(self):
        with self.lock:
            self.closed = True
            self.sent.extend(self.waiting)
            self.waiting.clear()


outbox = Outbox()
thread = threading.Thread(target=outbox.add, args=("hello",))
thread.start()
outbox.close()
thread.join()
assert not outbox.waiting, "a letter was left"
"""
LOOK = access("0.1", 11, 1, "reads", X, tested=True)
CLOSES = access("0", 17, 2, "stores", X, held=(7,))
TAKES = access("0", 18, 3, "stores", Y, held=(7,))
ADDS = access("0.1", 14, 4, "stores", Y, held=(7,))


def told(*accesses: Access, proved: bool = True) -> Conflict:
    """What is told of a run; the second access is what makes the first one untrue."""
    failing = seen(*accesses)
    look, change = failing.accesses[:2]
    order = Conflict("0", None, Edge(change, (look,), inferred=False), None, (look,), (), (change,))
    assert kind_of(order, PASSED) == kinds.ORDER_VIOLATION
    found = with_act_under_lock(order, Links((Link(look, change, proved),)), failing)
    return order if found is order else found


def test_what_was_checked_before_the_lock_no_longer_holds_under_it() -> None:
    conflict = told(LOOK, CLOSES, TAKES, ADDS)
    assert conflict.thread == "0.1"
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.left.access.place.line, conflict.right.access.place.line) == (11, 14)
    assert [one.place.line for one in (*conflict.left.others, *conflict.right.others)] == [17, 18]
    assert kind_of(conflict, PASSED) == kinds.CHECK_THEN_ACT
    assert summary_of(kinds.CHECK_THEN_ACT, conflict) == (
        "What thread 0.1 has seen (prog.py:11) no longer holds when it acts on it (prog.py:14): thread 0 has changed "
        "it in between (prog.py:17)."
    )


def test_who_changes_what_was_checked_may_have_looked_at_what_the_act_changes_before() -> None:
    asks = access("0", 16, 0, "reads", Y, held=(7,), tested=True)
    failing = seen(asks, LOOK, CLOSES, ADDS)
    asks, look, change, act = failing.accesses
    order = Conflict("0", None, Edge(change, (look,), inferred=False), None, (look,), (), (change,))
    right = with_act_under_lock(order, Links((Link(look, change, proved=True),)), failing).right
    assert right == Edge(act, (asks,), inferred=False)


def in_function(one: Access, name: str) -> Access:
    return one._replace(place=replace(one.place, function=name))


@pytest.mark.parametrize(
    "accesses",
    [
        (LOOK._replace(tested=False), CLOSES, TAKES, ADDS),
        (LOOK._replace(held=(7,)), CLOSES, TAKES, ADDS),
        (LOOK, CLOSES._replace(held=()), TAKES, ADDS),
        (LOOK, CLOSES, TAKES._replace(held=()), ADDS),
        (LOOK, CLOSES, TAKES._replace(thread="0.2"), ADDS),
        (LOOK, CLOSES, TAKES._replace(stack=(*TAKES.stack, TAKES.stack[0])), ADDS),
        (LOOK, CLOSES, TAKES._replace(thing=("attribute", 1, "z")), ADDS),
        (LOOK, CLOSES, TAKES, ADDS._replace(held=(8,))),
        (LOOK, CLOSES, TAKES, ADDS._replace(does="reads", writes=False, new=LOOK.new)),
        (LOOK, CLOSES, TAKES, ADDS._replace(thing=X)),
        (LOOK, CLOSES, TAKES, in_function(ADDS, "other")),
        (LOOK, CLOSES, TAKES, ADDS._replace(place=replace(ADDS.place, line=10))),
        (LOOK, CLOSES, in_function(TAKES, "other"), ADDS),
        (LOOK, CLOSES, ADDS, TAKES),
    ],
)
def test_nothing_else_is_told_so(accesses: tuple[Any, ...]) -> None:
    assert kind_of(told(*accesses), PASSED) == kinds.ORDER_VIOLATION


def test_an_order_that_is_not_proved_stays_an_order() -> None:
    assert kind_of(told(LOOK, CLOSES, TAKES, ADDS, proved=False), PASSED) == kinds.ORDER_VIOLATION


@pytest.mark.once
def test_a_letter_that_is_added_after_the_last_ones_were_sent(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "outbox.py").write_text(OUTBOX)
    explanation, _ = explained(tmp_path / "outbox.py", tmp_path / "run")
    assert explanation.story is not None, explanation.why_not
    assert explanation.story.kind == kinds.CHECK_THEN_ACT
    conflict = explanation.conflict
    assert conflict is not None
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.left.access.place.line, conflict.right.access.place.line) == (10, 13)

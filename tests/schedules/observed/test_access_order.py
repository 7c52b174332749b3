"""A thread that gives way before an access makes it when it goes on."""

from __future__ import annotations

import pytest

from replay_dd.schedules.hunting.likely_preemptions import orders_of
from replay_dd.schedules.model import Switch
from replay_dd.schedules.observed.access_order import in_order_of_access, resumed_at
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.runtime.channel import LOCK

pytestmark = pytest.mark.once

BALANCE = (7, "balance")


def switch(thread: str, time: int, to: str, at: int, forced: bool = False) -> Switch:
    return Switch(thread, time, to, forced, False, None, at, 0)


def touch(thread: str, time: int, at: int, thing: tuple[int, str] = BALANCE) -> Touch:
    return Touch(thread, time, at, time, thing, changes=True)


NOTED = (touch("0.1", 1, 11), touch("0.1", 2, 12), touch("0.2", 1, 13), touch("0.2", 2, 14), touch("0.1", 3, 15))
THERE_AND_BACK = (switch("0.1", 2, "0.2", 12), switch("0.2", 3, "0.1", 15))


def test_an_access_comes_after_those_of_the_thread_that_was_let_pass() -> None:
    late = NOTED[1]._replace(global_time=15)
    made = in_order_of_access((*NOTED[:4], NOTED[4]._replace(global_time=16)), THERE_AND_BACK)
    assert made == (NOTED[0], NOTED[2], NOTED[3], late, NOTED[4]._replace(global_time=16))
    assert (("0.2", 2), ("0.1", 2)) in orders_of(made)
    assert (("0.2", 2), ("0.1", 2)) not in orders_of(NOTED[:4])


def test_who_never_goes_on_makes_its_access_where_it_stopped() -> None:
    assert in_order_of_access(NOTED, THERE_AND_BACK[:1]) == NOTED


@pytest.mark.parametrize(("thing", "moves"), [(BALANCE, False), ((3, LOCK), True)], ids=["in a call", "lock"])
def test_who_waits_has_begun_its_access_but_for_the_lock(thing: tuple[int, str], moves: bool) -> None:
    noted = (touch("0.1", 2, 12, thing), touch("0.2", 1, 13))
    made = in_order_of_access(noted, (switch("0.1", 2, "0.2", 12, forced=True), switch("0.2", 3, "0.1", 15)))
    assert [one.thread for one in made] == (["0.2", "0.1"] if moves else ["0.1", "0.2"])


def test_a_thread_goes_on_when_it_is_switched_to_again() -> None:
    switches = (switch("0.1", 2, "0.2", 12), switch("0.2", 3, "0", 15), switch("0", 1, "0.1", 16))
    assert resumed_at(switches) == {("0.1", 2): 16}
    assert resumed_at((*switches, switch("0.1", 5, "0.2", 20))) == {("0.1", 2): 16, ("0.2", 3): 20}

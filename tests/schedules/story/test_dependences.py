"""What values were made of, and what decided that instructions were executed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.observed.observation import NOTHING_OBSERVED
from replay_dd.schedules.story.control import deciding_branches
from replay_dd.schedules.story.dependences import RAISED, Dependences, Kind, Node
from tests.schedules.story.made_accesses import access
from tests.schedules.story.ran import Ran, code_of

pytestmark = pytest.mark.once

HANDLES = code_of("outer", ["CALL", "RETURN_VALUE", "PUSH_EXC_INFO", "STORE_FAST", "RETURN_VALUE"])
GOES_THROUGH = code_of("<genexpr>", ["FOR_ITER", "YIELD_VALUE", "JUMP_BACKWARD", "RETURN_VALUE"], {0: (1, 3), 2: (0,)})


def test_the_beginning_of_a_handler_decides_what_is_executed_only_there() -> None:
    assert deciding_branches(HANDLES) == ((), (), (), (2,), (2,))


def test_what_a_handler_handles_was_made_by_what_raised_it() -> None:
    ran = Ran(HANDLES)
    raised = ran.steps("outer", 0)
    handler = ran.steps("outer", 2)
    dependences = Dependences(ran.flow, NOTHING_OBSERVED)
    assert [*dependences.of(Node(handler))] == [(Node(raised, RAISED), Kind.DATA)]
    assert dependences.deciding(ran.steps("outer", 3)) == handler


@pytest.mark.parametrize("ended", [True, False])
def test_what_is_made_of_all_that_a_generator_gives_depends_on_where_that_ends(ended: bool) -> None:
    """``sum(one for one in rows)``: one row less is in no value that it gets. ``any()`` may stop before the end."""
    ran = Ran(code_of("total", ["CALL", "RETURN_VALUE"]), GOES_THROUGH)
    calls = ran.steps("total", 0)
    gives = ran.steps("<genexpr>", 0, 1)
    end = ran.steps("<genexpr>", 2, 0)
    if ended:
        ran.steps("<genexpr>", 3)
    found = [*Dependences(ran.flow, NOTHING_OBSERVED).of(Node(calls))]
    assert (Node(gives), Kind.DATA) in found
    assert ((Node(end), Kind.CONTROL) in found) == ended


def test_what_a_loop_does_for_a_thread_is_no_step_of_the_program() -> None:
    ran = Ran(code_of("main", ["CALL", "RETURN_VALUE"]))
    step = ran.steps("main", 0, time=4)
    one = ran.flow.steps[step]
    calls = access(one.thread, one.time, 1, "calls", ("object", 1, ""), detail="set_result(7)")
    by_loop = calls._replace(asked=("0.1", 3))
    for seen, at in ((calls, step), (by_loop, None)):
        dependences = Dependences(ran.flow, replace(NOTHING_OBSERVED, accesses=(seen,)))
        assert dependences.step_of(seen) == at
        assert dependences.accesses(step) == ([] if at is None else [seen])

"""Which step of a failing run is the one that failed."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.model import Ending, Frame, UncaughtException
from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.story.chain_end import failing_step

pytestmark = pytest.mark.once


@dataclass
class Ran:
    """The instructions that a thread ran in one function, as (name, line)."""

    thread: str
    function: str
    instructions: list[tuple[str, int]]


def flow_of(*ran: Ran) -> Flow:
    rows: list[tuple[Ran, Any, Any]] = []
    for one in ran:
        steps = list(range(len(rows), len(rows) + len(one.instructions)))
        activation = SimpleNamespace(
            thread=one.thread, steps=steps, code=SimpleNamespace(function=one.function, file="prog.py")
        )
        rows += [(one, activation, SimpleNamespace(name=name, line=line)) for name, line in one.instructions]
    flow = SimpleNamespace(
        steps=[SimpleNamespace(thread=one.thread) for one, _, _ in rows],
        activation=lambda number: rows[number][1],
        instruction=lambda number: rows[number][2],
    )
    return cast(Flow, flow)


def ended_in(function: str, line: int) -> Ending:
    frame = Frame("prog.py", line, function, True)
    return Ending(1, exceptions=(UncaughtException("main", "KeyError", "'a'", (frame,)),))


ASKED = Ran("0", "main", [("CALL", 20)])


@pytest.mark.parametrize(
    "after",
    [
        [],
        # A block `with lock:` lets go of the lock, a handler of its variable.
        [("PUSH_EXC_INFO", 4), ("WITH_EXCEPT_START", 4), ("RERAISE", 4)],
        [("LOAD_CONST", 0), ("STORE_FAST", 0), ("DELETE_FAST", 0), ("RERAISE", 0)],
        # A handler keeps it: `self.error = error`.
        [("PUSH_EXC_INFO", 5), ("STORE_FAST", 6), ("STORE_ATTR", 7), ("POP_EXCEPT", 7), ("RETURN_VALUE", 7)],
    ],
)
def test_an_exception_that_is_raised_again_by_who_asks_for_the_result(after: list[tuple[str, int]]) -> None:
    flow = flow_of(Ran("0.1", "find", [("LOAD_FAST", 4), ("BINARY_SUBSCR", 5), *after]), ASKED)
    assert failing_step(flow, ended_in("find", 5)) == (1, "KeyError")


def test_a_visit_of_the_line_that_ended_well_is_not_the_failing_one() -> None:
    well = Ran("0.1", "find", [("BINARY_SUBSCR", 5), ("STORE_FAST", 6), ("RETURN_VALUE", 6)])
    assert failing_step(flow_of(well, ASKED), ended_in("find", 5)) is None

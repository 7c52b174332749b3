"""Which step of a run raised the exception that a handler handles.

Rules of this module:

* Each handler that only raises its exception again is followed back to what it handles; a ``with`` and a ``finally:``
  have one, too. A handler that is done before has nothing to do with it.
* An exception left a call if its last instruction returns nothing, and the thread went on outside of it. A generator
  that stopped at a ``yield`` was not left by an exception, or that does not show.
"""

from __future__ import annotations

from bisect import bisect_left

from replay_dd.schedules.observed.flow import ENDS, HANDLER_BEGINS, Activation, Flow

WAITS = ("YIELD_VALUE", "RETURN_GENERATOR", "SEND")
_HANDLER_ENDS = "POP_EXCEPT"
_RAISES_AGAIN = "RERAISE"
_BEFORE_LAST_STEPS = "COPY"  # of what ends a handler that an exception leaves


def handled_by(flow: Flow, handler: int) -> int | None:
    """The step that raised what a handler handles, in its own function or in one that this called; None if unknown.

    Args:
        flow: how values flowed through the run.
        handler: the first step of the handler.
    """
    call = flow.activation(handler)
    at = bisect_left(call.steps, handler)
    while at:
        raised = raised_at(flow, call, at - 1)
        left = _left_by_exception(flow, raised, handler)
        if left is None:
            return raised
        call, at = left, len(left.steps)
    return None


def raised_at(flow: Flow, call: Activation, at: int) -> int:
    """The step of a call that raised an exception.

    Args:
        flow: how values flowed through the run.
        call: the call.
        at: which of its steps was the last one before the exception left it, or came to a handler in it.
    """
    while at > 0 and flow.instruction(call.steps[at]).name == _RAISES_AGAIN:
        at = _handles(flow, call, at)
    return call.steps[at]


def _left_by_exception(flow: Flow, caller: int, handler: int) -> Activation | None:
    """The call made by a step that an exception left before a handler began; None if there is none."""
    calls = [flow.activations[number] for number in flow.called.get(caller, ())]
    ended = [call for call in calls if caller < call.steps[-1] < handler]
    last = max(ended, key=lambda call: call.steps[-1], default=None)
    returned = last is None or flow.instruction(last.steps[-1]).name in (*ENDS, *WAITS)
    return None if returned else last


def _handles(flow: Flow, call: Activation, again: int) -> int:
    """Which step of a call raised what a later one raises again."""
    done = 0  # handlers inside of that one, or before it
    for at in range(again - 1, 0, -1):
        before, name = (flow.instruction(call.steps[one]).name for one in (at - 1, at))
        if name == _HANDLER_ENDS and before != _BEFORE_LAST_STEPS:
            done += 1
        elif name == HANDLER_BEGINS and done:
            done -= 1
        elif not done and flow.steps[call.steps[at]].at not in flow.instruction(call.steps[at - 1]).following:
            return at - 1
    return 0

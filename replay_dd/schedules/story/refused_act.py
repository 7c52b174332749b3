"""An act that raises an exception, as what its thread had seen before no longer holds, wherever in the run that was.

The isolated switch may only have made a thread wait within its act: ``if self.running: self.pool.submit(job)``, where
another thread has the pool's lock. That one lets the wait go on for long enough to end what the check has found. Then
nothing at that switch touches what was checked.

Rules of this module:

* The exception counts if the passing run raises none at that line. It may be handled there: what failed in the end is
  what the handler has noted.
* The check is the last one that the thread has made in the function that raised, or in one that called it, before the
  act began. It must have decided something, and others must have made it untrue before the exception came.
* The act must be done to something that one of these others has used since, too: else the exception is not about them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.flow import HANDLER_BEGINS, Flow
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.chain_end import failing_step
from replay_dd.schedules.story.conflict import Conflict, Edge, checks
from replay_dd.schedules.story.dependences import Dependences
from replay_dd.schedules.story.handled import handled_by
from replay_dd.schedules.story.interrupted_check import makes_untrue
from replay_dd.schedules.story.twins import Twins


def refused_act(twins: Twins, ending: Ending) -> Conflict | None:
    """The conflict of the first act that was refused; None if there is none.

    Args:
        twins: what was seen of both runs.
        ending: how the failing run ended.
    """
    flow = twins.failing_flow
    if flow is None or twins.passing_flow is None:
        return None
    seen = Dependences(flow, twins.failing)
    last = failing_step(flow, ending)
    raised = {*_handled(flow), *(() if last is None else last[:1])}
    usual = {_line(twins.passing_flow, step) for step in _handled(twins.passing_flow)}
    for step in sorted(raised):
        if _line(flow, step) not in usual:
            found = _refused_at(step, seen, twins.failing)
            if found is not None:
                return found
    return None


def _handled(flow: Flow) -> Iterator[int]:
    for number in range(len(flow.steps)):
        if flow.instruction(number).name == HANDLER_BEGINS:
            raised = handled_by(flow, number)
            if raised is not None:
                yield raised


def _line(flow: Flow, step: int) -> tuple[str, str, int]:
    code = flow.activation(step).code
    return code.path, code.function, flow.instruction(step).line


def _refused_at(step: int, seen: Dependences, failing: Observation) -> Conflict | None:
    act = next((one for one in seen.accesses(step) if one.does == "calls" and one.writes), None)
    if act is None:
        return None
    own = [one for one in failing.accesses if one.thread == act.thread]
    after = tuple(one for one in own if _step(seen, one) > step)
    look = _last_check(own, act, seen)
    if look is None:
        return None
    later = [one for one in failing.accesses if one.thread != act.thread and one.number > look.number]
    others = tuple(one for one in later if not after or one.number < after[0].number)
    changes = tuple(one for one in others if makes_untrue(one, look))
    ends = tuple(one for one in others if one.touches(act) and any(one.thread == change.thread for change in changes))
    if not ends:
        return None
    before = tuple(one for one in own if one.number < changes[0].number)
    left, right = Edge(look, changes, inferred=False), Edge(act, ends, inferred=False)
    return Conflict(act.thread, left, right, act.place, others, before, after, refused=True)


def _last_check(own: Sequence[Access], act: Access, seen: Dependences) -> Access | None:
    """The last check before an act, in the function that acts or in one that called it."""
    flow = seen.flow
    callers = set(_callers(flow, _step(seen, act)))
    for look in reversed(own):
        at = _step(seen, look) if look.number < act.number and checks(look) else -1
        if at >= 0 and flow.steps[at].activation in callers:
            return look
    return None


def _callers(flow: Flow, step: int) -> Iterator[int]:
    """The calls that a step is in, the innermost first."""
    while step >= 0:
        number = flow.steps[step].activation
        yield number
        step = flow.activations[number].called_at


def _step(seen: Dependences, access: Access) -> int:
    step = seen.step_of(access)
    return -1 if step is None else step

"""The deltas of a flow: its steps, in groups that keep every smaller flow well formed.

Rules of this module:

* The head (everything up to the first navigation) is part of every flow and never removed.
* A key is released if and only if it was pressed: both steps belong to one delta, including repeats of the press.
* All other steps are one delta each, in the order of the flow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from replay_dd.web.flow import Flow


@dataclass(frozen=True, slots=True)
class StepDeltas:
    """The deltas of a flow.

    Attributes:
        fixed: the numbers of the steps that every smaller flow keeps.
        deltas: for each delta, the numbers of its steps.
    """

    fixed: tuple[int, ...]
    deltas: tuple[tuple[int, ...], ...]

    def steps_of(self, configuration: Iterable[int]) -> tuple[int, ...]:
        """The numbers of the steps of the flow with these deltas, in order."""
        chosen = set(self.fixed)
        for delta in configuration:
            chosen.update(self.deltas[delta])
        return tuple(sorted(chosen))


def step_deltas_of(flow: Flow, *, also_fixed: Iterable[int] = ()) -> StepDeltas:
    """Group the steps of a flow into deltas.

    Args:
        flow: the flow.
        also_fixed: numbers of further steps that every smaller flow keeps.
    """
    types = [step.type for step in flow.steps]
    fixed = {*range(types.index("navigate") + 1), *also_fixed}
    deltas: list[list[int]] = []
    pressed: dict[tuple[str, str], list[int]] = {}
    for number, step in enumerate(flow.steps):
        if number in fixed:
            continue
        key = (str(step.data.get("key")), str(step.data.get("target", "main")))
        if step.type == "keyUp" and key in pressed:
            pressed.pop(key).append(number)
        elif step.type == "keyDown" and key in pressed:
            pressed[key].append(number)
        else:
            deltas.append([number])
            if step.type == "keyDown":
                pressed[key] = deltas[-1]
    return StepDeltas(tuple(sorted(fixed)), tuple(tuple(delta) for delta in deltas))

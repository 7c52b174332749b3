"""How values flowed through an observed run: every instruction of counted code, and what produced its operands.

Rules of this module:

* Plain data, made from the records of the channel, and looked up here: which call an instruction belongs to, which
  instruction produced a value. What follows from that is concluded elsewhere.
* An instruction belongs to one *activation* of its function: from its beginning to its end, with those of a generator
  as one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from replay_dd.schedules.observed.observation import Value
from replay_dd.schedules.runtime import channel

FOLLOWED = (channel.FLOW_CODE, channel.FLOW)
ENDS = ("RETURN_VALUE", "RETURN_CONST")
HANDLER_BEGINS = "PUSH_EXC_INFO"
_WAITS = ("YIELD_VALUE", "RETURN_GENERATOR")


class Instruction(NamedTuple):
    """An instruction of a function; ``operands`` tells the producers of each: index times 2, plus 1 for a second."""

    name: str
    text: str
    line: int
    operands: tuple[tuple[int, ...], ...]
    loads: tuple[str, ...]
    stores: tuple[str, ...]
    following: tuple[int, ...]


class Code(NamedTuple):
    """A function: its file, its parameters (``positional`` of them by position), its instructions."""

    number: int
    file: str
    path: str
    function: str
    parameters: tuple[str, ...]
    positional: int
    instructions: tuple[Instruction, ...]


class Step(NamedTuple):
    """One executed instruction, ``at`` which index; ``time`` is its thread time if it is a yield point, else 0."""

    thread: str
    time: int
    activation: int
    at: int
    values: tuple[Value, ...]


@dataclass
class Activation:
    """One call of a function: its steps, by number, and the step of its caller, -1 if that is not known."""

    code: Code
    thread: str
    called_at: int
    steps: list[int] = field(default_factory=list)
    by_index: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


@dataclass
class Flow:
    """All steps of a run, in order.

    Attributes:
        steps: the steps.
        activations: the calls that they belong to.
        called: for each step that calls counted code, the activations.
        counted: the steps at yield points, by thread and thread time.
    """

    steps: list[Step] = field(default_factory=list)
    activations: list[Activation] = field(default_factory=list)
    called: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    counted: dict[tuple[str, int], int] = field(default_factory=dict)

    def activation(self, number: int) -> Activation:
        """The call that a step belongs to."""
        return self.activations[self.steps[number].activation]

    def instruction(self, number: int) -> Instruction:
        """What a step executes."""
        step = self.steps[number]
        return self.activations[step.activation].code.instructions[step.at]

    def latest(self, activation: Activation, indices: Sequence[int], before: int) -> int:
        """The latest step of an activation before another one that executes one of these instructions; -1 if none."""
        found = -1
        for index in indices:
            steps = activation.by_index.get(index, [])
            at = bisect_left(steps, before)
            if at:
                found = max(found, steps[at - 1])
        return found

    def producer(self, number: int, operand: int) -> tuple[int, int]:
        """(the step that produced an operand of a step, which of its results it is); (-1, 0) if that is not known."""
        producers = self.instruction(number).operands[operand]
        found, result = -1, 0
        for producer in producers:
            step = self.latest(self.activation(number), [producer // 2], number)
            if step > found:
                found, result = step, producer % 2
        return found, result

    def stored(self, number: int, variable: str) -> tuple[int, int]:
        """(the step that last stored a local variable before a step, which operand it stored); (-1, 0) if none did."""
        activation = self.activation(number)
        instructions = activation.code.instructions
        stores = [index for index, one in enumerate(instructions) if variable in one.stores]
        found = self.latest(activation, stores, number)
        if found < 0:
            return -1, 0
        one = self.instruction(found)
        return found, len(one.operands) - 1 - one.stores.index(variable)

    def visit(self, number: int) -> tuple[str, str, str, int, int]:
        """What is the same for the same visit of the same place by the same thread in another run."""
        step, activation = self.steps[number], self.activation(number)
        key = (step.thread, activation.code.path, activation.code.function, step.at)
        return (*key, self._visits[number])

    def __post_init__(self) -> None:
        self._visits: list[int] = []
        self._counts: dict[tuple[str, int, int], int] = defaultdict(int)

    def add(self, step: Step) -> None:
        """Add the next step."""
        number, activation = len(self.steps), self.activations[step.activation]
        self.steps.append(step)
        activation.steps.append(number)
        activation.by_index[step.at].append(number)
        key = (step.thread, activation.code.number, step.at)
        self._counts[key] += 1
        self._visits.append(self._counts[key])
        if step.time:
            self.counted[step.thread, step.time] = number

    def visits(self) -> Iterator[tuple[tuple[str, str, str, int, int], int]]:
        """Each step with what :meth:`visit` tells of it."""
        return ((self.visit(number), number) for number in range(len(self.steps)))


@dataclass
class _Stacks:
    """Finds out which call each instruction belongs to."""

    flow: Flow
    running: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    waiting: dict[tuple[int, int], int] = field(default_factory=dict)

    def activation(self, thread: str, frame: int, code: Code, index: int) -> int:
        """The activation of the next instruction of a thread, by the frame that executes it."""
        stack, flow = self.running[thread], self.flow
        while stack and all(frame != one for one, _ in stack[-1:]) and any(frame == one for one, _ in stack):
            stack.pop()
        if stack and stack[-1][0] == frame:
            number = stack[-1][1]
            last = flow.instruction(flow.activations[number].steps[-1]).name
            if flow.activations[number].code is code and last not in ENDS:
                return number
            stack.pop()
        caller = flow.activations[stack[-1][1]].steps[-1] if stack else -1
        resumed = self.waiting.get((frame, code.number))
        if resumed is not None and flow.instruction(flow.activations[resumed].steps[-1]).name in _WAITS:
            number = resumed
        else:
            number = len(flow.activations)
            flow.activations.append(Activation(code, thread, caller))
            self.waiting[frame, code.number] = number
        if caller >= 0 and number not in flow.called[caller]:
            flow.called[caller].append(number)
        stack.append((frame, number))
        return number


def flow_of(records: Sequence[tuple[Any, ...]]) -> Flow:
    """The flow that these records of a run tell."""
    codes: dict[int, Code] = {}
    flow = Flow()
    stacks = _Stacks(flow)
    for kind, *told in records:
        if kind == channel.FLOW_CODE:
            number, file, path, function, parameters, positional, rows = told
            listing = tuple(Instruction(*row) for row in rows)
            codes[number] = Code(number, file, path, function, parameters, positional, listing)
        else:
            for thread, time, frame, number, index, values in told[0]:
                activation = stacks.activation(thread, frame, codes[number], index)
                flow.add(Step(thread, time, activation, index, tuple(Value(*one) for one in values)))
    return flow

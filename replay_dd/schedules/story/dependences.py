"""What a value was made of, in an observed run: its dynamic dependences.

Korel and Laski, "Dynamic Program Slicing" (IPL 1988). Values are followed, and not the objects that lead to them, as in
Sridharan, Fink and Bodik, "Thin Slicing" (PLDI 2007).

Rules of this module:

* A dependence is what really happened: the latest instruction that produced an operand, the latest store to a
  variable, the latest write of any thread to a thing. Nothing is guessed; what is not known is lost, with the reason.
* What a function in C returns is made of its arguments, unless it reads a thing whose writes were seen.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from replay_dd.schedules.observed.flow import ENDS, HANDLER_BEGINS, Activation, Code, Flow
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story.control import deciding_branches
from replay_dd.schedules.story.handled import handled_by

_MOST_WRITES = 30  # to one container, that are followed
_OUTSIDE = {"file": "the file ", "database": ""}
_TAKES_OUT = ("get(", "get_nowait(", "result(", "recv(")
_STORES = ("STORE_ATTR", "STORE_GLOBAL", "STORE_NAME", "STORE_DEREF", "STORE_SUBSCR", "STORE_SLICE")
_CALLS = ("CALL", "CALL_KW", "CALL_FUNCTION_EX")
_READS = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "BINARY_SUBSCR")
_METHODS = ("LOAD_ATTR", "LOAD_METHOD")
_COMPARES = ("COMPARE_OP", "CONTAINS_OP")
_BUILDS = ("BUILD_LIST", "BUILD_SET", "BUILD_MAP")
_FILLS = ("LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "MAP_ADD", "DICT_UPDATE", "DICT_MERGE")
RAISED = 8  # the slot of an instruction that raised an exception: whatever it worked on may be why
_LOADED = 9  # the slot of what an instruction loads that stores, too
_ITERATED = ".0"  # what a comprehension goes through; it has the place of the object of a method
_OWN = ("self", "cls")
_NO_TIME = -1  # of what no step of the program makes


class Node(NamedTuple):
    """A value in a run: the step that produced it; of stores to local variables, which operand; else which result."""

    step: int
    slot: int = 0


class Kind(Enum):
    """How one value depends on another one."""

    DATA = "data"
    THROUGH_C = "through C"
    KEY = "key"
    CONTROL = "control"


@dataclass
class Dependences:
    """The dependences of one run.

    Args:
        flow: its instructions.
        observed: its accesses.

    Attributes:
        lost: for nodes that depend on something that is not known, what that is, in words.
    """

    flow: Flow
    observed: Observation
    lost: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._at: dict[tuple[str, int], list[Access]] = defaultdict(list)
        self._writes: dict[tuple[str, int], list[Access]] = defaultdict(list)
        self._times: dict[str, list[int]] = defaultdict(list)
        for thread, time in self.flow.counted:
            self._times[thread].append(time)
        for access in self.observed.accesses:
            self._at[access.thread, self._time_of(access)].append(access)
            if access.writes:
                self._writes[_holder(access)].append(access)
        self._branches: dict[int, tuple[tuple[int, ...], ...]] = {}

    def accesses(self, step: int) -> list[Access]:
        """What a step accesses."""
        one = self.flow.steps[step]
        return self._at[one.thread, one.time] if one.time else []

    def step_of(self, access: Access) -> int | None:
        """The step that makes an access."""
        return self.flow.counted.get((access.thread, self._time_of(access)))

    def _time_of(self, access: Access) -> int:
        """The thread time of the step that makes an access; an operation inside a call belongs to that call."""
        if access.is_done_by_loop:
            return _NO_TIME
        if (access.thread, access.time) in self.flow.counted or not access.place.instruction.startswith("CALL"):
            return access.time
        times = self._times[access.thread]
        at = bisect_left(times, access.time)
        if at:
            step = self.flow.counted[access.thread, times[at - 1]]
            code, line = self.flow.activation(step).code, self.flow.instruction(step).line
            if (code.path, line) == (access.place.path, access.place.line):
                return times[at - 1]
        return access.time

    def of(self, node: Node) -> Iterator[tuple[Node, Kind]]:
        """What the value of a node was made of."""
        instruction = self.flow.instruction(node.step)
        name = instruction.name
        if name not in _CALLS:  # a property, a descriptor, an operator that the program has defined
            for number in self.flow.called.get(node.step, []):
                yield from self._returned(self.flow.activations[number], node.step)
        if node.slot == RAISED:
            yield from self._written(node.step)
            for operand in range(len(instruction.operands)):
                yield from self._operand(node.step, operand)
        elif instruction.stores and not (instruction.loads and node.slot == _LOADED):
            yield from self._operand(node.step, node.slot)
        elif instruction.loads:
            slot = 0 if node.slot == _LOADED else min(node.slot, len(instruction.loads) - 1)
            yield from self._variable(node.step, instruction.loads[slot])
        elif name in _STORES:
            yield from self._operand(node.step, 0)
            if name == "STORE_SUBSCR":
                yield from self._key(node.step, 2)
        elif name in _READS:
            yield from self._read(node.step)
            if name == "BINARY_SUBSCR":
                yield from self._key(node.step, 1)
        elif name == "FOR_ITER":
            yield from self._yielded(node.step)
            yield from self._written(node.step)
            yield from self._operand(node.step, 0)
        elif name in _CALLS:
            yield from self._call(node.step)
        elif name == HANDLER_BEGINS:
            raised = handled_by(self.flow, node.step)
            if raised is not None:
                yield Node(raised, RAISED), Kind.DATA
        elif name == "SEND":  # what a generator hands on from another one
            yield from self._yielded(node.step)
            yield from self._operand(node.step, 0)
        else:
            for operand in range(len(instruction.operands)):
                yield from self._operand(node.step, operand)
            if name in _COMPARES:
                yield from self._contents(node.step)
            if name in _BUILDS:
                yield from self._filled(node.step)

    def deciding(self, step: int) -> int | None:
        """The step that decided that this one is executed: a branch of its function, or of one that called it."""
        flow = self.flow
        while step >= 0:
            activation, index = flow.activation(step), flow.steps[step].at
            found = flow.latest(activation, self._deciding_branches(activation.code)[index], step)
            if found >= 0:
                return found
            step = activation.called_at
        return None

    def _deciding_branches(self, code: Code) -> tuple[tuple[int, ...], ...]:
        known = self._branches.get(code.number)
        if known is None:
            known = self._branches[code.number] = deciding_branches(code)
        return known

    def _operand(self, step: int, operand: int) -> Iterator[tuple[Node, Kind]]:
        if operand < len(self.flow.instruction(step).operands):
            found, result = self.flow.producer(step, operand)
            if found >= 0:
                pair = self.flow.instruction(found)
                yield Node(found, _LOADED if pair.stores and pair.loads else result), Kind.DATA

    def _key(self, step: int, operand: int) -> Iterator[tuple[Node, Kind]]:
        """Where in a container it is."""
        yield from ((node, Kind.KEY) for node, _ in self._operand(step, operand))

    def _variable(self, step: int, variable: str) -> Iterator[tuple[Node, Kind]]:
        stored, operand = self.flow.stored(step, variable)
        if stored >= 0:
            yield Node(stored, operand), Kind.DATA
            return
        activation = self.flow.activation(step)
        if variable not in activation.code.parameters:
            return
        if variable.startswith("."):  # what a comprehension goes through; its call names no such parameter
            yield from self._iterated(activation)
            return
        if activation.called_at < 0:
            self.lost[step] = f"{variable} comes to {activation.code.function}() through library code"
            return
        position = self._argument(activation, variable)
        if position is None:
            self.lost[step] = f"how {variable} comes to {activation.code.function}() is not known"
        else:
            yield from self._operand(activation.called_at, position)

    def _iterated(self, activation: Activation) -> Iterator[tuple[Node, Kind]]:
        """What the call of a comprehension hands over: the iterator, its last operand."""
        operands = self.flow.instruction(activation.called_at).operands if activation.called_at >= 0 else ()
        if operands:
            yield from self._operand(activation.called_at, len(operands) - 1)

    def _argument(self, activation: Activation, variable: str) -> int | None:
        """Which operand of the call a parameter is; None if that is not known."""
        call = self.flow.instruction(activation.called_at)
        code = activation.code
        if variable == _ITERATED and call.text == "0":
            return 1
        if call.name == "CALL" and call.text.isdigit() and variable in code.parameters[: code.positional]:
            own = bool(code.parameters) and code.parameters[0] in _OWN and "." in code.function
            position = code.parameters.index(variable) - own
            if 0 <= position < int(call.text):
                return 2 + position
        return None

    def _read(self, step: int) -> Iterator[tuple[Node, Kind]]:
        found = list(self._written(step))
        yield from found
        # Nobody was seen to write there: it is as it was when its container was made.
        if not found and self.flow.instruction(step).name == "BINARY_SUBSCR":
            yield from self._operand(step, 0)

    def contents_written(self, step: int) -> list[Access]:
        """The writes, before a step, to the containers that it compares or looks at."""
        holders = [value.number for value in self.flow.steps[step].values if value.number >= 0]
        holders += [one.thing[1] for one in self.accesses(step) if one.reads and one.thing[0] in ("item", "whole")]
        found = [write for holder in dict.fromkeys(holders) for write in self._writes.get(("container", holder), [])]
        return [write for write in found if (at := self.step_of(write)) is not None and at < step]

    def _contents(self, step: int) -> Iterator[tuple[Node, Kind]]:
        for write in self.contents_written(step)[-_MOST_WRITES:]:
            at = self.step_of(write)
            if at is not None:
                yield Node(at), Kind.DATA

    def _written(self, step: int) -> Iterator[tuple[Node, Kind]]:
        """The writes that a step reads."""
        for access in self.accesses(step):
            if access.reads:
                for write in self.writes_before(access):
                    at = self.step_of(write)
                    if at is not None:
                        yield Node(at), Kind.DATA

    def writes_before(self, access: Access) -> list[Access]:
        """The writes whose result an access reads, the latest first."""
        found: list[Access] = []
        whole = access.thing[0] == "whole"
        replaced = set()
        for write in reversed(self._writes[_holder(access)]):
            if write.number >= access.number or not write.touches(access):
                continue
            if write.thing == access.thing and not whole:
                return found or [write]
            if write.thing[0] == "item" and write.thing in replaced:
                continue
            if whole or not _left_alone(write, access):
                found.append(write)
                replaced.add(write.thing)
            if len(found) >= _MOST_WRITES:
                break
        return found

    def _call(self, step: int) -> Iterator[tuple[Node, Kind]]:
        called = self.flow.called.get(step, [])
        if called:
            for number in called:
                yield from self._results(self.flow.activations[number], step, Kind.DATA)
                yield from self._how_many(self.flow.activations[number], step)
            if len(called) == 1:
                return
        accesses = self.accesses(step)
        outside = next((one for one in accesses if one.thing[0] in _OUTSIDE), None)
        if outside is not None and outside.reads:
            self.lost[step] = f"it comes through {_OUTSIDE[outside.thing[0]]}{outside.name}"
            return
        taken = next((one for one in accesses if one.thing[0] == "object" and one.detail.startswith(_TAKES_OUT)), None)
        if taken is not None:
            self.lost[step] = f"it comes through {taken.name}, a {taken.holder_type}"
            return
        yield from self._written(step)
        for operand in range(len(self.flow.instruction(step).operands)):
            for node, _ in self._operand(step, operand):
                yield node, Kind.THROUGH_C
                if self.flow.instruction(node.step).name in _METHODS:  # of what lies in the object
                    yield from ((receiver, Kind.THROUGH_C) for receiver, _ in self._operand(node.step, 0))

    def _results(self, activation: Activation, step: int, kind: Kind) -> Iterator[tuple[Node, Kind]]:
        for one in activation.steps:
            if self.flow.instruction(one).name in ("RETURN_VALUE", "YIELD_VALUE") and one > step:
                yield Node(one), kind

    def _how_many(self, activation: Activation, step: int) -> Iterator[tuple[Node, Kind]]:
        """What decided that a generator had no more to give to the function in C that went through it."""
        gives = [one for one in activation.steps if self.flow.instruction(one).name == "YIELD_VALUE"]
        last = activation.steps[-1]
        if gives and self.flow.instruction(last).name in ENDS:
            branches = self._deciding_branches(activation.code)[self.flow.steps[gives[-1]].at]
            branch = self.flow.latest(activation, branches, last)
            if branch > max(step, gives[-1]):
                yield Node(branch), Kind.CONTROL

    def _returned(self, activation: Activation, step: int) -> Iterator[tuple[Node, Kind]]:
        own = self.flow.activation(step).steps
        at = bisect_right(own, step)
        end = own[at] if at < len(own) else len(self.flow.steps)
        for one, kind in self._results(activation, step, Kind.DATA):
            if one.step < end and self.flow.instruction(one.step).name == "RETURN_VALUE":
                yield one, kind

    def _yielded(self, step: int) -> Iterator[tuple[Node, Kind]]:
        """What a generator has given a loop for its next turn."""
        own = self.flow.activation(step).steps
        at = bisect_right(own, step)
        end = own[at] if at < len(own) else len(self.flow.steps)
        for number in self.flow.called.get(step, []):
            given = [one for one in self.flow.activations[number].steps if step < one < end]
            yield from ((Node(one), Kind.DATA) for one in given if self.flow.instruction(one).name == "YIELD_VALUE")

    def _filled(self, step: int) -> Iterator[tuple[Node, Kind]]:
        activation = self.flow.activation(step)
        instructions = activation.code.instructions
        for index, one in enumerate(instructions):
            if one.name in _FILLS:
                for filling in activation.by_index.get(index, []):
                    if filling > step:
                        yield Node(filling), Kind.DATA


def _holder(access: Access) -> tuple[str, int]:
    sort = "container" if access.thing[0] in ("item", "whole") else access.thing[0]
    key = access.thing[2] if sort == "file" else ""
    return sort + key, access.thing[1]


def _left_alone(write: Access, read: Access) -> bool:
    """Whether a write to a list as a whole has left this item of it as it was: another one was appended."""
    appended = write.detail.startswith("append(") and read.thing[2].isdigit()
    if not appended:
        return False
    size = "0" if write.old.text == "[]" else write.old.text.rpartition(" of ")[2]
    return size.isdigit() and size != read.thing[2]

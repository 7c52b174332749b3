"""The stack machine of pickles, with stretches of the file in the place of what they make.

Rules of this module:

* Nothing of a pickle is ever executed.
* The values of a pickle end with what makes them: elements come before the tuple, and between the dictionary and what
  puts them into it. So each value is a stretch of bytes, and those in it are stretches inside.

Source: the documentation in pickletools.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from replay_dd.input.mended import Count, Length
from replay_dd.input.numbers import BINARY, Form
from replay_dd.input.trees import Cut
from replay_dd.input.without_values import Value

if TYPE_CHECKING:
    from pickletools import OpcodeInfo

_FORMS = {form.name: form for form in BINARY}
_TUPLES = (b")", b"\x85", b"\x86", b"\x87")  # of no elements to three
_CHANGE_A_VALUE = ("APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD")
_PAIRED = ("SETITEM", "SETITEMS", "DICT")
_NAMES_A_CLASS = "STACK_GLOBAL"
_CHANGEABLE = ("list", "dict", "set", "bytearray")
_MARK = "MARK"


@dataclass(slots=True, kw_only=True)
class Made(Value):
    """A value that a pickle makes.

    Attributes:
        name: what makes it.
        is_alone: whether it can be made again without a difference, and no value in it can be left out.
        cuts: what can be left out of it.
    """

    name: str
    is_alone: bool = False
    cuts: list[Cut] = field(default_factory=list)

    def elements(self) -> list[Cut]:
        """Elements, pairs, and the state of an object."""
        return self.cuts

    @property
    def has_fields(self) -> bool:
        """Whether it is a tuple."""
        return self.name.startswith("TUPLE")


class Operation(NamedTuple):
    """One step of a pickle, and where it is."""

    kind: OpcodeInfo
    argument: Any
    start: int
    stop: int


class Machine:
    """The stack of a pickle, with stretches of the file in the place of what they make.

    Attributes:
        top: whole pickles.
        stack: the values of the one that is not whole.
        numbers: lengths of strings and the like, and kinds of tuples.
    """

    def __init__(self) -> None:
        self.top: list[Made] = []
        self.stack: list[Made] = []
        self.numbers: list[Length | Count] = []
        self._begins = 0

    def values(self) -> list[Made]:
        """The outermost values."""
        return [*self.top, *(value for value in self.stack if value.name != _MARK)]

    def take(self, operation: Operation) -> bool:
        """Take one step; gives whether that was possible."""
        kind, stop = operation.kind, operation.stop
        before = [one.name for one in kind.stack_before]
        if kind.name == "STOP":
            self.top.append(Made(self._begins, stop, self.stack[-1:], name=kind.name))
            self.stack, self._begins = [], stop
        elif kind.name == "MEMOIZE" or "PUT" in kind.name:
            if self.stack:
                self.stack[-1].stop = stop
        elif before or kind.stack_after:
            return self._make(operation, before)
        return True

    def _make(self, operation: Operation, before: list[str]) -> bool:
        kind, _, start, stop = operation
        taken = len(before)
        if "mark" in before:
            marks = (number for number in reversed(range(len(self.stack))) if self.stack[number].name == _MARK)
            taken = before.index("mark") + len(self.stack) - next(marks, -1)
        if taken > len(self.stack):
            return False
        used = self.stack[len(self.stack) - taken :]
        del self.stack[len(self.stack) - taken :]
        inside = [value for value in used if value.name != _MARK]
        if not kind.stack_after:
            return True
        changed = inside.pop(0) if kind.name in _CHANGE_A_VALUE and inside else None
        alone = kind.name == _NAMES_A_CLASS or not (before or kind.stack_after[0].name in _CHANGEABLE)
        made = changed or Made(used[0].start if used else start, stop, name=kind.name, is_alone=alone)
        made.stop = stop
        made.inside += inside
        made.cuts += self._cuts(operation, used, inside)
        self.stack += [made] * len(kind.stack_after)
        if not before:
            self.numbers += _lengths(operation)
        return True

    def _cuts(self, operation: Operation, used: list[Made], inside: list[Made]) -> list[Cut]:
        """What can be left out of the values that a step brings together."""
        kind, _, start, stop = operation
        size = 1 + (kind.name in _PAIRED)
        groups = [inside[number : number + size] for number in range(0, len(inside), size)]
        cuts = [(group[0].start, group[-1].stop) for group in groups]
        marks = [value for value in used if value.name == _MARK]
        if kind.name in _CHANGE_A_VALUE:
            if not marks:
                return [(first, stop) for first, _ in cuts]
            return cuts or [(marks[0].start, stop)]
        if kind.code.encode("latin-1") in _TUPLES and cuts:
            self.numbers.append(Count((start, stop), _KINDS_OF_TUPLES, (cuts[0][0], start), tuple(cuts)))
            return cuts
        return cuts if marks else []


def read(content: bytes) -> Machine:
    """What the steps of some pickles make, as far as they can be read."""
    machine = Machine()
    for operation in operations(content):
        if not machine.take(operation):
            break
    return machine


def operations(content: bytes) -> Iterator[Operation]:
    """The steps of some pickles, as far as they can be read."""
    # Imported late: few files are pickles.
    from pickletools import genops

    file = BytesIO(content)
    try:
        while file.tell() < len(content):
            for kind, argument, start in genops(file):
                yield Operation(kind, argument, start or 0, file.tell())
    except (ValueError, IndexError, KeyError, Warning):
        return


def _lengths(operation: Operation) -> Iterator[Length]:
    """How long a string, or a large number, says it is."""
    kind, _, start, stop = operation
    if kind.arg is not None and kind.arg.n < -1:
        size = {-2: 1, -5: 8}.get(kind.arg.n, 4)
        number = (start + 1, start + 1 + size)
        yield Length(number, _FORMS["1 bytes, big" if size == 1 else f"{size} bytes, little"], (number[1], stop))


def _read_kind(content: bytes, place: int) -> tuple[int, int] | None:
    code = content[place : place + 1]
    return (_TUPLES.index(code), place + 1) if code in _TUPLES else None


_KINDS_OF_TUPLES = Form("kinds of tuples", _read_kind, lambda number, old: _TUPLES[number])

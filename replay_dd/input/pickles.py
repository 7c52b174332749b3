"""Pickles: programs for a stack machine, each of whose values is made by a stretch of its own.

Rules of this module:

* A file is taken for pickles if it is read as such to its last byte. Nothing of it is ever executed.
* The values of a pickle end with what makes them: elements come before the tuple, and between the dictionary and what
  puts them into it. So each value is a stretch of bytes, and those in it are stretches inside.
* A value that is used again is put into a memo, and taken from there by its number. To stand alone, what holds no other
  values (a string, a number, the name of a class) is written again where it is used. Numbers of all else are written
  with it, so that they stay when others go. Frames only say how much to read at once, and are left out.

Source: the documentation in pickletools.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from replay_dd.input.mended import Count, Length, Mended
from replay_dd.input.numbers import BINARY, Form
from replay_dd.input.space import Left
from replay_dd.input.trees import Cut
from replay_dd.input.without_values import Value, is_enough

if TYPE_CHECKING:
    from pickletools import OpcodeInfo

_FORMS = {form.name: form for form in BINARY}
_END = b"."
_TUPLES = (b")", b"\x85", b"\x86", b"\x87")  # of no elements to three
_CHANGE_A_VALUE = ("APPEND", "APPENDS", "SETITEM", "SETITEMS", "ADDITEMS", "BUILD")
_PAIRED = ("SETITEM", "SETITEMS", "DICT")
_NAMES_A_CLASS = "STACK_GLOBAL"
_CHANGEABLE = ("list", "dict", "set", "bytearray")
_MARK = "MARK"
_LONGEST_AGAIN = 1000  # bytes of what is written again wherever it is used


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


class Operation(NamedTuple):
    """One step of a pickle, and where it is."""

    kind: OpcodeInfo
    argument: Any
    start: int
    stop: int


class Pickles:
    """What is known of the values of pickles, which follow each other in a file."""

    @classmethod
    def of(cls, content: bytes) -> Pickles | None:
        """The pickles that a file consists of, if it does."""
        if not content.endswith(_END):
            return None
        top = _read(content).top
        return cls() if top and top[-1].stop == len(content) and is_enough(top) else None

    def top(self, content: bytes) -> list[Made]:
        """Whole pickles, and the values of the last one if it is cut short."""
        return _read(content).values()

    def mended(self, space: Left) -> Left:
        """A space whose strings have lengths, and whose tuples are of kinds, that are right for what is left."""
        numbers = _read(space.content).numbers
        return Mended(space.content, space, numbers, ()) if numbers else space

    def plain(self, content: bytes) -> bytes:
        """The same values without frames, and without references to what can be written again."""
        machine = _Machine()
        texts: list[bytes] = []
        places: dict[int, int] = {}
        memo: dict[int, bytes | None] = {}
        kept: dict[int, int] = {}
        used: set[int] = set()
        done = 0
        for operation in _operations(content):
            name, number = operation.kind.name, operation.argument
            text = content[operation.start : operation.stop]
            places[operation.start] = len(texts)
            if not machine.take(operation):
                break
            done = operation.stop
            if name == "FRAME":
                text = b""
            elif name == "MEMOIZE" or "PUT" in name:
                number = len(memo) if name == "MEMOIZE" else number
                made = machine.stack[-1] if machine.stack else None
                if made is not None and made.is_alone and made.stop - made.start <= _LONGEST_AGAIN:
                    memo[number], text = b"".join(texts[places[made.start] :]), b""
                else:
                    memo[number], text = None, _put(number)
                    kept[number] = len(texts)
            elif "GET" in name:
                again = memo.get(number)
                text = text if again is None else again
                used.add(number)
            texts.append(text)
        for number, place in kept.items():
            if number not in used:
                texts[place] = b""
        return b"".join(texts) + content[done:]


class _Machine:
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


def _read(content: bytes) -> _Machine:
    machine = _Machine()
    for operation in _operations(content):
        if not machine.take(operation):
            break
    return machine


def _operations(content: bytes) -> Iterator[Operation]:
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


def _put(number: int) -> bytes:
    return b"q" + bytes([number]) if number < 1 << 8 else b"r" + number.to_bytes(4, "little")


def _read_kind(content: bytes, place: int) -> tuple[int, int] | None:
    code = content[place : place + 1]
    return (_TUPLES.index(code), place + 1) if code in _TUPLES else None


_KINDS_OF_TUPLES = Form("kinds of tuples", _read_kind, lambda number, old: _TUPLES[number])

"""Pickles: programs for a stack machine, each of whose values is made by a stretch of its own.

Rules of this module:

* A file is taken for pickles if it is read as such to its last byte.
* A value that is used again is put into a memo, and taken from there by its number. To stand alone, it is written again
  where it is used: all values but those within themselves, or else only those that hold no others (a string, a number,
  the name of a class). Numbers of all else are written with it, so that they stay when others go. Frames only say how
  much to read at once, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.input.mended import Mended
from replay_dd.input.pickle_machine import Machine, Made, Operation, operations, read
from replay_dd.input.space import Left
from replay_dd.input.without_values import is_enough

_END = b"."
_LONGEST_AGAIN = 1000  # bytes of what is written again wherever it is used
_LONGEST_GROWN, _LONGEST_SHORT = 2, 1 << 16  # times the file, and bytes, that may be written in its place
_NOTHING = Made(0, 0, name="")


class Pickles:
    """What is known of the values of pickles, which follow each other in a file.

    Args:
        longest: how many bytes the same values may take without references.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest

    @classmethod
    def of(cls, content: bytes) -> Pickles | None:
        """The pickles that a file consists of, if it does."""
        if not content.endswith(_END):
            return None
        top = read(content).top
        longest = max(_LONGEST_GROWN * len(content), _LONGEST_SHORT)
        return cls(longest) if top and top[-1].stop == len(content) and is_enough(top) else None

    def top(self, content: bytes) -> list[Made]:
        """Whole pickles, and the values of the last one if it is cut short."""
        return read(content).values()

    def mended(self, space: Left) -> Left:
        """A space whose strings have lengths, and whose tuples are of kinds, that are right for what is left."""
        numbers = read(space.content).numbers
        return Mended(space.content, space, numbers, ()) if numbers else space

    def plain(self, content: bytes) -> Iterator[bytes]:
        """The same values without frames and references: to anything, or else to what can be made again."""
        for longest in (self._longest, 0):
            yield _Writer(longest).written(content)


class _Writer:
    """Writes values again where they are used.

    Args:
        longest: how many bytes all may take, if what is not the same any more once it is made twice (lists,
            dictionaries, objects) is written again, too; 0 for none of that.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._pieces: list[bytes | range] = []  # ranges: of pieces that are written again
        self._sizes = [0]  # of all pieces before each one, and of all
        self._places: dict[int, int] = {}  # the number of the piece that begins at each place of the file
        self._memo: dict[int, tuple[Made, range | None]] = {}
        self._puts: dict[int, int] = {}  # the piece that puts each value into the memo

    def written(self, content: bytes) -> bytes:
        """The pickles of a file, as far as they can be read, and what follows."""
        used: set[int] = set()
        done = 0
        for operation, made in list(_steps(content)):
            self._places[operation.start] = len(self._pieces)
            done = operation.stop
            name, number = operation.kind.name, operation.argument
            piece: bytes | range = content[operation.start : operation.stop]
            if name == "FRAME":
                piece = b""
            elif name == "MEMOIZE" or "PUT" in name:
                piece = self._put(len(self._memo) if name == "MEMOIZE" else number, made)
            elif "GET" in name:
                again = self._again(number, operation.start)
                if again is None:
                    used.add(number)
                piece = piece if again is None else again
            self._add(piece)
        for number, place in self._puts.items():
            if number not in used:
                self._pieces[place] = b""
        return b"".join(self._flat()) + content[done:]

    def _add(self, piece: bytes | range) -> None:
        size = len(piece) if isinstance(piece, bytes) else self._size(piece)
        self._pieces.append(piece)
        self._sizes.append(self._sizes[-1] + size)

    def _size(self, pieces: range) -> int:
        return self._sizes[pieces.stop] - self._sizes[pieces.start]

    def _put(self, number: int, made: Made) -> bytes:
        """What puts the value that was made last into the memo; nothing if it is written again each time."""
        whole = range(self._places.get(made.start, 0), len(self._pieces))
        if made.is_alone and self._size(whole) <= _LONGEST_AGAIN:
            self._memo[number] = made, whole
            return b""
        self._memo[number] = made, None
        self._puts[number] = len(self._pieces)
        return _put(number)

    def _again(self, number: int, place: int) -> range | None:
        """The pieces that make a value of the memo again at a place; None if it must be taken from there."""
        made, pieces = self._memo.get(number, (_NOTHING, None))
        # What ends only later would be within itself.
        if self._longest and pieces is None and made is not _NOTHING and made.stop <= place:
            whole = range(self._places[made.start], self._places[made.stop])
            pieces = whole if self._sizes[-1] + self._size(whole) <= self._longest else None
        return pieces

    def _flat(self) -> Iterator[bytes]:
        waiting: list[Iterator[bytes | range]] = [iter(self._pieces)]
        while waiting:
            piece = next(waiting[-1], None)
            if piece is None:
                waiting.pop()
            elif isinstance(piece, bytes):
                yield piece
            else:
                waiting.append(iter(self._pieces[piece.start : piece.stop]))


def _steps(content: bytes) -> Iterator[tuple[Operation, Made]]:
    """The steps of some pickles, as far as they can be read, each with the value that is on top of the stack then."""
    machine = Machine()
    for operation in operations(content):
        if not machine.take(operation):
            return
        yield operation, machine.stack[-1] if machine.stack else _NOTHING


def _put(number: int) -> bytes:
    return b"q" + bytes([number]) if number < 1 << 8 else b"r" + number.to_bytes(4, "little")

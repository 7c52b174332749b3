"""Edits of a program: what they cut out of its text, alone and together.

Rules of this module:

* An edit can be applied together with any others of its space. What one cuts out, another cannot change any more; of
  two replacements the outer one counts.
* Neighbours depend on each other: of a list, the comma between what is kept stays; a block of which nothing is kept
  becomes ``pass``. So edits are members of groups, and a group says what all its members that apply cut out together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from replay_dd.code.source import File, Program
from replay_dd.dd import IntervalSet

_BLANKS = b" \t\f"


@dataclass(frozen=True, slots=True)
class Cut:
    """Bytes that go, and what comes in their place.

    Attributes:
        start: the first byte.
        stop: the byte after the last one.
        text: what comes instead.
    """

    start: int
    stop: int
    text: bytes = b""


class Group(ABC):
    """Edits that depend on each other."""

    @abstractmethod
    def cuts(self, members: Sequence[int]) -> Iterable[Cut]:
        """What these members cut out together.

        Args:
            members: their numbers in the group, ascending.
        """


@dataclass(frozen=True, eq=False)
class Alone(Group):
    """A single edit.

    Attributes:
        all: what it cuts out.
    """

    all: tuple[Cut, ...]

    def cuts(self, members: Sequence[int]) -> Iterable[Cut]:
        """All of it."""
        return self.all


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that can be done to a program.

    Attributes:
        file: the number of the file that it is told to be in.
        start: the first byte of what it is about.
        stop: the byte after the last one.
        parts: what belongs to it: numbers of files, groups there, and numbers in the groups.
        removes: the file that it removes as a whole, if it does.
    """

    file: int
    start: int
    stop: int
    parts: tuple[tuple[int, Group, int], ...] = ()
    removes: bool = False


def single(file: int, start: int, stop: int, *cuts: Cut) -> Edit:
    """An edit of one file that depends on no other."""
    return Edit(file, start, stop, ((file, Alone(cuts), 0),))


class Space:
    """Edits of a program of which some are applied.

    A configuration holds the edits that are *not* applied: what is left of the program, as for any reduction.

    Args:
        program: the program.
        unit: a noun in the singular for what one edit takes away.
        edits: the edits.
        apart: keep words apart that come to stand side by side.
    """

    def __init__(self, program: Program, unit: str, edits: Sequence[Edit], *, apart: bool = True) -> None:
        self.program = program
        self.unit = unit
        self.edits = edits
        self.all = IntervalSet.range(0, len(edits))
        self.confirmed = False
        self._apart = apart

    def build(self, configuration: IntervalSet) -> Program:
        """The program with all other edits applied."""
        members: dict[tuple[int, Group], list[int]] = {}
        removed = set()
        for number in self.all - configuration:
            edit = self.edits[number]
            if edit.removes:
                removed.add(edit.file)
            for file, group, member in edit.parts:
                members.setdefault((file, group), []).append(member)
        cuts: dict[int, list[Cut]] = {}
        for (file, group), numbers in members.items():
            cuts.setdefault(file, []).extend(group.cuts(sorted(set(numbers))))
        return Program(
            tuple(
                file.with_content(without(file.content, cuts[number], apart=self._apart)) if number in cuts else file
                for number, file in enumerate(self.program.files)
                if number not in removed
            )
        )

    def file_of(self, delta: int) -> File:
        """The file that an edit is in."""
        return self.program.files[self.edits[delta].file]


def without(content: bytes, cuts: Iterable[Cut], *, apart: bool = True) -> bytes:
    """A text after some cuts, which may overlap.

    Args:
        content: the text.
        cuts: the cuts, in any order.
        apart: put a blank between two words that come to stand side by side.
    """
    pieces: list[bytes] = []
    place = 0
    last = b""

    def add(piece: bytes, *, joined: bool) -> None:
        nonlocal last
        if not piece:
            return
        if joined and apart and _in_word(last) and _in_word(piece[:1]):
            pieces.append(b" ")
        pieces.append(piece)
        last = piece[-1:]

    for cut in sorted(cuts, key=lambda cut: (cut.start, -cut.stop)):
        if cut.start >= place:
            add(content[place : cut.start], joined=place > 0)
            add(cut.text, joined=True)
        place = max(place, cut.stop)
    add(content[place:], joined=place > 0)
    return b"".join(pieces)


def _in_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"


def whole_lines(content: bytes, start: int, stop: int) -> Cut:
    """A cut of this part of a text: of all its lines if nothing else but a comment is on them."""
    first = start
    while first and content[first - 1] in _BLANKS:
        first -= 1
    after = stop
    while after < len(content) and content[after] in _BLANKS:
        after += 1
    if content.startswith(b"#", after):
        after = end_of_line(content, after)
    ends = after == len(content) or content[after] in b"\r\n"
    begins = first == 0 or content[first - 1] in b"\r\n"
    if ends and begins:
        if content.startswith(b"\r\n", after):
            return Cut(first, after + 2)
        return Cut(first, min(after + 1, len(content)))
    if ends:
        return Cut(first, after)
    return Cut(start, stop)


def end_of_line(content: bytes, place: int) -> int:
    """Where the line ends that a place is on, before what ends it."""
    while place < len(content) and content[place] not in b"\r\n":
        place += 1
    return place

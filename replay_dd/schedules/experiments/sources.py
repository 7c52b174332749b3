"""The statements of a program's files, and the regions of them that reach from one access of a thread to another.

Rules of this module:

* What an installed package does for the program's own code is that code's statement: nobody mends a package of others
  for a race of their own, and its calls could be made under a lock.
* Where only a package's own frames lead to an access, they count.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.experiments.statements import Lines, Statements
from replay_dd.schedules.model import Program
from replay_dd.schedules.observed.observation import Access, StackFrame
from replay_dd.schedules.story.story import path_of
from replay_dd.schedules.virtual import Region
from replay_dd.schedules.vouched_sources import text_of_file

_INNER = ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Sources:
    """The statements of the files of a program.

    Args:
        program: the program, as its log describes it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._known: dict[str, Statements | None] = {}

    def of(self, file: str) -> Statements | None:
        """Those of a file; None if it has changed, or cannot be read."""
        if file not in self._known:
            text = text_of_file(self._program, file)
            try:
                self._known[file] = None if text is None else Statements(text)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._known[file] = None
        return self._known[file]

    def regions(self, frame: StackFrame, other_line: int | None = None) -> list[Region]:
        """Regions of a function around the line of one of its frames, and another line; the smallest first."""
        statements = self.of(frame.file)
        if statements is None:
            return []
        lines = statements.runs_around(frame.line, frame.line if other_line is None else other_line)
        return [Region(frame.file, frame.function, *one) for one in lines]

    def next_round(self, frame: StackFrame, other_line: int) -> list[Region]:
        """The statement of a frame in the body of a loop whose body has another line, too; none if there is none."""
        statements = self.of(frame.file)
        lines = None if statements is None else statements.step_of_loop(frame.line, other_line)
        return [] if lines is None else [Region(frame.file, frame.function, *lines)]

    def statement(self, access: Access) -> Region | None:
        """The statement that makes an access."""
        frames = frames_of(access)
        regions = self.regions(frames[-1]) if frames else []
        return regions[0] if regions else None

    def lockable(self, access: Access) -> Region | None:
        """What to lock of an access: its statement, or the ``with`` around it, so that locks are taken in one order."""
        region = self.statement(access)
        statements = None if region is None else self.of(region.file)
        if region is None or statements is None or not access.held:
            return region
        lines = statements.block_with_locks(region.first)
        return region if lines is None else Region(region.file, region.function, *lines)

    def names_in(self, region: Region) -> list[str]:
        """The objects whose attributes a region uses, as the code there names them."""
        statements = self.of(region.file)
        return [] if statements is None else statements.names_in((region.first, region.last))

    def adjoin(self, one: Region, other: Region) -> bool:
        """Whether nothing stands between two regions of a function, and both are in one block."""
        both = Region(one.file, one.function, one.first, other.last)
        return self.parts(both) == [*self.parts(one), *self.parts(other)]

    def with_neighbours(self, region: Region, lock: str) -> Region:
        """A region and the ``with`` statements right before and after it that take a lock, by its name."""
        statements = self.of(region.file)
        if statements is None or not lock:
            return region
        return Region(region.file, region.function, *statements.with_neighbours((region.first, region.last), lock))

    def is_with(self, region: Region, lock: str) -> bool:
        """Whether a region is one ``with`` statement that takes a lock, by its name."""
        statements = self.of(region.file)
        return statements is not None and bool(lock) and statements.is_with((region.first, region.last), lock)

    def may_repeat(self, region: Region, line: int, *, steps: bool = False) -> bool:
        """Whether a region may come twice to what is called in a line, or to the steps of a loop there."""
        statements = self.of(region.file)
        return statements is not None and statements.may_repeat((region.first, region.last), line, steps=steps)

    def parts(self, region: Region) -> list[Region]:
        """The statements of a region, one by one."""
        statements = self.of(region.file)
        lines: list[Lines] = [(region.first, region.last)]
        if statements is not None:
            lines = statements.parts(lines[0])
        return [Region(region.file, region.function, *one) for one in lines]


def between(one: Access, other: Access, sources: Sources) -> list[Region]:
    """Regions that reach from one access of a thread to a later one, the smallest first.

    The frames that both have in common stand in the same line, up to the innermost of them: from there, each access has
    its own way. Whether two frames of one function are the same call is not known; if not, a larger region is it. What
    one instruction has done twice, without a loop in the region or several calls there, was done in two calls.
    """
    way, other_way = frames_of(one), frames_of(other)
    common = _common_frames(way, other_way)
    if common == 0:  # a package's thread has come to one of them, and into a handler of the program to the other
        way, other_way = _all_frames(one), _all_frames(other)
        common = _common_frames(way, other_way)
    found: list[Region] = []
    again: list[Region] = []  # from the first that may have executed one instruction twice
    for number in reversed(range(common)):
        line, other_line = way[number].line, other_way[number].line
        for region in sources.regions(way[number], other_line):
            found.append(region)
            if (
                again
                or line != other_line
                or sources.may_repeat(region, line, steps=one.does == other.does == "iterates")
            ):
                again.append(region)
    twice = one.place == other.place and one.does == other.does and one.time != other.time
    return list(dict.fromkeys(again if twice and again else found))


def spans_of(accesses: Sequence[Access], sources: Sources, most: int) -> list[list[Region]]:
    """For each thread, a region from its first access to its last one; the smallest of all threads first.

    Args:
        accesses: of some threads.
        sources: the program's sources.
        most: how many sizes there may be.
    """
    by_thread: dict[str, list[Access]] = {}
    for access in sorted(accesses, key=lambda access: access.number):
        by_thread.setdefault(access.thread, []).append(access)
    spans = [between(own[0], own[-1], sources)[:most] for own in by_thread.values()]
    if not all(spans):
        return []
    return [[one[min(size, len(one) - 1)] for one in spans] for size in range(max(map(len, spans), default=0))]


def _common_frames(way: Sequence[StackFrame], other_way: Sequence[StackFrame]) -> int:
    """How many of the outermost frames are those of the same functions, up to the first that stands elsewhere."""
    common = 0
    for frame, other_frame in zip(way, other_way, strict=False):
        if (frame.file, frame.function) != (other_frame.file, other_frame.function):
            break
        common += 1
        if frame.line != other_frame.line:
            break
    return common


def frames_of(access: Access) -> list[StackFrame]:
    """The frames on the way to an access in which something could be changed, the outermost first.

    They are those of the program's own code; if there are none, those of packages. Comprehensions are left out.
    """
    counted = _all_frames(access)
    return [frame for frame in counted if not frame.is_installed] or counted


def _all_frames(access: Access) -> list[StackFrame]:
    return [frame for frame in path_of(access) if not frame.function.endswith(_INNER)]

"""Changes that a program never executes, on neither side: they are left out before a search, and a test proves that.

Rules of this module:

* What is executed is noted for Python, line by line; of other files, whether any program opens them, the build among
  them. Where that cannot be noted, they stay.
* Leaving out is a guess: a program can depend on a file that it never opens. One run decides: the new version without
  those changes must still fail in the same way; if it does not, nothing is left out.

Source: ESEC/FSE 1999, section 10 (future work).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import FileChange
from replay_dd.changes.outlines import is_python, outline
from replay_dd.changes.pieces import is_indented
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.python_sources import parsed

LEAST_CHANGES = 50
"""With fewer changes, a search needs hardly more tests than it takes to see what is executed."""

# Lines that Python does not execute, though what surrounds them depends on them.
_STRUCTURE = re.compile(rb"\s*(?:(?:else|finally|try|except|case|match)\b|[)\]}])")


@dataclass(frozen=True)
class Executed:
    """What a run executed.

    Attributes:
        lines: the lines of each file of Python, from 0.
        opened: the files that it opened, as far as it is Python.
        seen: the files that any program opened, the build among them; None if that is not known.
    """

    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    opened: frozenset[str] = frozenset()
    seen: frozenset[str] | None = None


def executed_in(noted: bytes) -> Executed:
    """Read what the probe wrote."""
    lines: dict[str, set[int]] = {}
    opened: set[str] = set()
    for entry in noted.decode("utf-8", "surrogateescape").splitlines():
        number, _, path = entry.partition(" ")
        if number == "0":
            opened.add(path)
        elif number.isdigit():
            lines.setdefault(path, set()).add(int(number) - 1)
    return Executed({path: frozenset(found) for path, found in lines.items()}, frozenset(opened))


def worth_observing(difference: Difference) -> bool:
    """Whether there are enough changes for the two runs that this takes."""
    return difference.all.count >= LEAST_CHANGES


def never_executed(
    difference: Difference, old: Executed, new: Executed, *, built: bool, beside: bool = False
) -> IntervalSet:
    """The changes that neither version executed.

    Args:
        difference: the two versions.
        old: what the old version executed.
        new: what the new version executed.
        built: whether other programs than Python read the files.
        beside: leave out what lies beside files that are opened, too, if it is not opened itself.
    """
    seen = None if old.seen is None or new.seen is None else old.seen | new.seen
    observed = bool(old.lines and new.lines)
    if not observed and seen is None:
        return EMPTY  # it is not Python, or it cannot be observed
    found = EMPTY
    # What surrounds a file that is read may matter by its being there, as in the metadata of a package.
    read = {path for run in (old, new) for path in (*run.lines, *run.opened)} | (seen or set())
    folders = set() if beside else {path.rpartition("/")[0] for path in read}
    for number, file in enumerate(difference.files):
        deltas = difference.deltas_of(number)
        used = file.old_path in read or file.new_path in read
        elsewhere = not any(path and path.rpartition("/")[0] in folders for path in (file.old_path, file.new_path))
        if not used and ((is_python(file) and observed) or (elsewhere and (seen is not None or not built))):
            found = found | deltas
        elif is_python(file) and _is_executed(file, old, new):
            found = found | _unused_lines(difference, file, deltas, old, new)
    return found


def _is_executed(file: FileChange, old: Executed, new: Executed) -> bool:
    return (file.old_path or "") in old.lines or (file.new_path or "") in new.lines


def _unused_lines(
    difference: Difference, file: FileChange, deltas: IntervalSet, old: Executed, new: Executed
) -> IntervalSet:
    """The hunks of which no line is executed, and whose removal leaves the structure around them as it is."""
    before = {file.line_of_old(line) for line in old.lines.get(file.old_path or "", ())}
    before.update(*(arrival.before for arrival in file.arrivals))  # executed where they were, if at all
    lines = {False: before, True: new.lines.get(file.new_path or "", ())}
    executed = {side: {outline(file, new=side).statement_at(line) for line in lines[side]} for side in lines}
    hunks: dict[int, list[int]] = {}
    touched: dict[bool, set[int]] = {False: set(), True: set()}
    for delta in deltas:
        change = difference.line_change(delta)
        if change is not None:
            hunks.setdefault(change.hunk, []).append(delta)
            for side, changed in (
                (False, range(change.old, change.old_stop)),
                (True, range(change.new, change.new_stop)),
            ):
                touched[side].update(outline(file, new=side).statement_at(line) for line in changed)

    def matters(line: int, side: bool) -> bool:
        found = outline(file, new=side)
        heads = list(found.heads_of(line))
        if found.statement_at(line) in executed[side]:
            return True
        # A body whose head comes or goes must come and go with it.
        if any(head in executed[side] and head in touched[side] for head in heads):
            return True
        text = (file.after if side else file.before)[line]
        return bool(_STRUCTURE.match(text)) and (not heads or heads[0] in executed[side])

    left_out = EMPTY
    for members in hunks.values():
        changes = [change for delta in members if (change := difference.line_change(delta)) is not None]
        if any(is_indented(file, change) for change in changes):
            continue  # lines that are executed move together with those that are not
        sides = [(line, False) for change in changes for line in range(change.old, change.old_stop)]
        sides += [(line, True) for change in changes for line in range(change.new, change.new_stop)]
        if not any(matters(line, side) for line, side in sides):
            left_out = left_out | IntervalSet.of(members)
    return left_out if _parses(difference, file, deltas - left_out) else EMPTY


def _parses(difference: Difference, file: FileChange, applied: IntervalSet) -> bool:
    _, version = file.version([difference.local(delta) for delta in applied])
    if version is None or version.content is None:
        return True
    try:
        parsed(version.content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True

"""Which changes bring and take the names that a module of Python has, and which others rely on that.

Rules of this module:

* What counts is bound outside of functions and classes. To be mentioned is not enough: in a file with
  `for t in tokens`, only the import makes `t.Any` work.
* A name that another line binds from now on, such as another import, goes and comes at once: without both, it is
  missing, and of both, the later one counts.
* What uses a new import needs it; what takes an import away needs the last uses to be gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from replay_dd.changes.bound import bound_at_top
from replay_dd.changes.difference import Difference
from replay_dd.changes.file_change import Kind
from replay_dd.changes.names import Names
from replay_dd.changes.outlines import is_python
from replay_dd.dd import IntervalSet


def needs_of_bindings(difference: Difference, names: Names) -> Iterator[tuple[int, int]]:
    """Pairs of a delta and one that it needs."""
    for number, file in enumerate(difference.files):
        if not (is_python(file) and file.lines):
            continue
        deltas = difference.deltas_of(number)
        before, after = bound_at_top(file.before), bound_at_top(file.after)
        places = deltas_of_lines(difference, number)
        for name in {*before, *after}:
            taking = [places.get((False, line)) for line in before.get(name, ())]
            bringing = [places.get((True, line)) for line in after.get(name, ())]
            brought = [delta for delta in bringing if delta is not None]
            taken = [delta for delta in taking if delta is not None]
            if len(taken) < len(taking) or len(brought) < len(bringing):
                continue  # one stays
            if taken and brought:
                pairs = [
                    (one, other) for one in taken for other in brought if not {one, other} <= {*taken} & {*brought}
                ]
                yield from pairs
                yield from ((other, one) for one, other in pairs)
            elif brought and names.importing(name) & IntervalSet.of(brought):
                users = _lines_in(difference, names.adding(name) & deltas)
                yield from ((user, one) for user in users for one in brought if user not in brought)
            elif taken and names.unimporting(name) & IntervalSet.of(taken):
                users = _lines_in(difference, names.removing(name) & deltas)
                yield from ((one, user) for user in users for one in taken if user not in taken)


def deltas_of_lines(difference: Difference, number: int) -> Mapping[tuple[bool, int], int]:
    """The deltas of a file by what they add (True) and remove (False), a line from 0."""
    places: dict[tuple[bool, int], int] = {}
    for delta in difference.deltas_of(number):
        change = difference.line_change(delta)
        if change is not None and change.old < change.old_stop:
            places[False, change.old] = delta
        if change is not None and change.new < change.new_stop:
            places[True, change.new] = delta
    return places


def _lines_in(difference: Difference, deltas: IntervalSet) -> list[int]:
    return [delta for delta in deltas if difference.kind(delta) in (Kind.LINE, Kind.ARRIVE)]

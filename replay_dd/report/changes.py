"""The result of isolating a code change as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay_dd.changes.difference import Difference
from replay_dd.changes.divergences import Call, Divergence, only_in_one
from replay_dd.changes.file_change import Kind
from replay_dd.changes.history import Origin
from replay_dd.changes.isolate import ChangesIsolation, Narrowed
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.moves import Move, moves_in
from replay_dd.changes.patch import patch_between
from replay_dd.changes.shown import Passage, passages, text_of
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.report.isolation import counted, isolation_as_json, search_as_text

_SHOWN_LINES = 40
_SHOWN_NAMES = 4
_SHOWN_MOVED = 12
_MOST_SHOWN = 200  # changes; of more, only the guilty ones are shown


def changes_as_text(
    found: ChangesIsolation,
    origins: tuple[Origin, ...],
    narrowed: Narrowed | None,
    files: Mapping[str, Path],
    *,
    needed_origins: tuple[Origin, ...] = (),
) -> Iterator[str]:
    """The answer as text, line by line.

    Args:
        found: the result.
        origins: the commits that made the change.
        narrowed: the search of the commits, if there was one.
        files: the paths of what was written, by what they contain.
        needed_origins: the commits that made the other changes which it needs, unless all are of one commit.
    """
    others = EMPTY if found.needed is None else found.needed - found.guilty
    shows_all = found.needed is not None and found.needed.count <= _MOST_SHOWN
    shown = found.needed if found.needed is not None and shows_all else found.guilty
    known = found.isolation.complete and not found.undivided
    yield "This change makes it fail:" if known else "The change that makes it fail is among these:"
    yield ""
    parts = list(passages(found.difference, shown, found.guilty))
    lines = list(_passages_as_text(parts, marks=bool(others) and shows_all))
    if len(lines) > _SHOWN_LINES:
        parts.sort(key=lambda part: not part.is_guilty)  # what it needs may be long
        lines = list(_passages_as_text(parts, marks=bool(others) and shows_all))
        if found.undivided:
            lines = list(_places_as_text(found.difference, found.guilty))
    yield from lines[:_SHOWN_LINES]
    if len(lines) > _SHOWN_LINES:
        yield f"  ... and {counted(len(lines) - _SHOWN_LINES, 'more line')}"
    yield ""
    yield from (f"commit       {_origin_as_text(origin)}" for origin in origins)
    limited = found.needed_by is not None and found.needed_by.stopped_by is not None
    most = "at most " if limited else ""
    if others and shows_all:
        yield f"needs        {most}all of it; with all but the lines marked `>`, and other changes, it passes"
    elif others:
        yield f"needs        {most}{_amount(found.difference, others, 'other ')}, which the patch has, too"
    elif found.needed is not None:
        yield "needs        nothing else: applied alone, it makes the old version fail"
    elif found.unconfirmed:
        yield "needs        not known: what seemed to be enough does not fail in a clean build, so the patch has more"
    yield from (f"               of {_origin_as_text(origin)}" for origin in needed_origins)
    yield from _divergences_as_text(found.diverged)
    for move in _moves(found):
        yield f"moved        {move.name}, from {move.source} to {move.target}; what differs in it:"
        differs = [*(("-", line) for line in move.removed), *(("+", line) for line in move.added)]
        yield from (f"               {sign} {_line(line)}" for sign, line in differs[:_SHOWN_MOVED])
        if len(differs) > _SHOWN_MOVED:
            yield f"               ... and {counted(len(differs) - _SHOWN_MOVED, 'more line')}"
    if narrowed is not None:
        often = f", each of up to {narrowed.times} runs, since they vary" if narrowed.times > 1 else ""
        yield f"history      {counted(narrowed.commits, 'commit')}, {counted(narrowed.tests, 'test')}{often}"
    told = list(search_as_text(found.isolation))
    yield told[0]
    changed_files = len({found.difference.file_of(delta) for delta in found.difference.all})
    yield f"changes      {_amount(found.difference, found.difference.all)} in {counted(changed_files, 'file')}"
    if found.left_out:
        yield f"               {counted(found.left_out.count, 'change')} left out: neither version executes them"
    for stage in found.isolation.stages:
        yield f"               {stage.unit}s: {stage.left:,} of {stage.before:,} left, {counted(stage.tests, 'test')}"
    if found.undivided:
        yield "undivided    too many tests in a row were unresolved, so this may be more than is needed"
    if found.rounds:
        yield f"resolved     {counted(found.rounds, 'more run')}, with the changes that missing names belong to"
    yield from (line for line in told[1:] if not line.startswith("difference "))
    yield from (f"{what:<12} {path}" for what, path in files.items())


def _amount(difference: Difference, deltas: IntervalSet, which: str = "") -> str:
    """How many changes there are, told as lines if all of them are."""
    lines = all(difference.kind(delta) is Kind.LINE for delta in deltas)
    return counted(deltas.count, f"{which}{'changed line' if lines else 'change'}")


def _divergences_as_text(diverged: Sequence[Divergence]) -> Iterator[str]:
    """Where to start, if the answer is long."""
    for divergence in diverged:
        old, new = divergence.old, divergence.new
        if old.raised or new.raised:
            what = "raises an exception, as it does not in the old version" if new.raised else "no longer raises"
        else:
            what = "ends with other values than in the old version"
        yield f"diverges     {_place(new)} {what}, for arguments that look alike"
        for version, calls in zip(("old", "new"), only_in_one(divergence), strict=True):
            shown = [*map(_place, calls[:_SHOWN_NAMES]), *(["..."] if len(calls) > _SHOWN_NAMES else [])]
            if shown:
                yield f"               there, only the {version} version calls {', '.join(shown)}"


def _place(call: Call) -> str:
    return f"{call.name} ({call.path}:{call.line})"


def _passages_as_text(shown: Sequence[Passage], *, marks: bool) -> Iterator[str]:
    for number, passage in enumerate(shown):
        if number:
            yield ""
        whole = marks and passage.is_guilty and not passage.rows
        yield f"{'>' if whole else ' '} {passage.title}{':' if passage.rows else ''}"
        for row in passage.rows:
            mark = ">" if marks and row.guilty else " "
            place = "" if row.sign == "+" else str(row.number)
            yield f"{mark} {place:>6}  {row.sign} {row.text}"


def _places_as_text(difference: Difference, deltas: IntervalSet) -> Iterator[str]:
    """Where changes are that are too many to be read: their files, and the functions in these."""
    for number, applied in difference.applied_to(deltas).items():
        file, first = difference.files[number], difference.deltas_of(number).first
        symbols: dict[str, None] = {}
        lines = 0
        for delta in (first + local for local in applied):
            if difference.kind(delta) is Kind.LINE:
                lines += 1
                symbols.setdefault(symbol_of(difference, delta))
            else:
                yield f"  {difference.words(delta)}"
        if lines:
            named = [symbol for symbol in symbols if symbol]
            more = f" and {len(named) - _SHOWN_NAMES} more" if len(named) > _SHOWN_NAMES else ""
            inside = f" in {', '.join(named[:_SHOWN_NAMES])}{more}" if named else ""
            yield f"  {file.title}: {counted(lines, 'changed line')}{inside}"


def changes_as_json(
    found: ChangesIsolation,
    origins: tuple[Origin, ...],
    narrowed: Narrowed | None,
    files: Mapping[str, Path],
    *,
    needed_origins: tuple[Origin, ...] = (),
) -> dict[str, Any]:
    """The object that ``--json`` prints; arguments as for :func:`changes_as_text`."""
    difference = found.difference
    return isolation_as_json(
        found.isolation,
        answer={
            "files": sorted({difference.files[difference.file_of(delta)].path for delta in found.guilty}),
            "renamed": _renamed(found),
            "guilty": _text(patch_between(difference, found.passing, found.failing)),
            "patch": None if found.needed is None else _text(patch_between(difference, EMPTY, found.needed)),
            "changed_lines": difference.all.count,
            "left_out": found.left_out.count,
            "resolving_runs": found.rounds,
            "undivided": found.undivided,
            "unconfirmed": found.unconfirmed,
            "diverges": [*map(_divergence_as_json, found.diverged)],
            "levels": [
                {"unit": stage.unit, "before": stage.before, "left": stage.left, "tests": stage.tests}
                for stage in found.isolation.stages
            ],
            "history": None
            if narrowed is None
            else {"commits": narrowed.commits, "tests": narrowed.tests, "runs_per_test": narrowed.times},
            "commits": _origins_as_json(origins),
            "needed_commits": _origins_as_json(needed_origins),
            "moved": [
                {
                    "name": move.name,
                    "from": move.source,
                    "to": move.target,
                    "removed": [*map(_line, move.removed)],
                    "added": [*map(_line, move.added)],
                }
                for move in _moves(found)
            ],
        },
        files=dict(files),
    )


def _renamed(found: ChangesIsolation) -> dict[str, str]:
    """The old paths of the guilty files that had another one, by the new ones."""
    files = (found.difference.files[found.difference.file_of(delta)] for delta in found.guilty)
    return {file.path: file.old_path for file in files if file.old_path not in (None, file.path)}


def _divergence_as_json(divergence: Divergence) -> dict[str, Any]:
    only_old, only_new = only_in_one(divergence)
    return {
        "old": _call_as_json(divergence.old),
        "new": _call_as_json(divergence.new),
        "only_old_calls": [*map(_call_as_json, only_old)],
        "only_new_calls": [*map(_call_as_json, only_new)],
    }


def _call_as_json(call: Call) -> dict[str, Any]:
    return {"name": call.name, "file": call.path, "line": call.line, "raised": call.raised}


def _moves(found: ChangesIsolation) -> list[Move]:
    """The functions of the answer that moved and changed; none if it is too large to be one."""
    return [] if found.undivided or not found.isolation.complete else list(moves_in(found.difference, found.guilty))


def _line(line: bytes) -> str:
    return text_of(line).rstrip().expandtabs()


def _origin_as_text(origin: Origin) -> str:
    return f"{origin.commit[:12]} {origin.subject} ({origin.author}, {origin.date})"


def _origins_as_json(origins: Sequence[Origin]) -> list[dict[str, str]]:
    return [{"commit": one.commit, "author": one.author, "date": one.date, "subject": one.subject} for one in origins]


def _text(patch: bytes) -> str:
    return patch.decode("utf-8", "replace")

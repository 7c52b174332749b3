"""``replay-dd replay`` of a schedule log."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from replay_dd.cli.exit_status import EXIT_CANNOT_TELL
from replay_dd.cli.output import echo, echo_json, echo_lines
from replay_dd.cli.progress import say
from replay_dd.cli.recorded_environment import with_environment
from replay_dd.outcome import Outcome
from replay_dd.report.hangs import hang_as_json, hang_as_text
from replay_dd.report.log import relocated_as_json
from replay_dd.report.runs import replay_as_json
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.anchored_replay import replay_by_anchors
from replay_dd.schedules.replaying.replay import Divergence, ReplayResult, check_there, check_unchanged, replay
from replay_dd.schedules.running.program_files import changed_files
from replay_dd.schedules.running.target import TargetRun
from replay_dd.schedules.runtime.channel import FORKED, UNLIKE

_EXITS = {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNRESOLVED: EXIT_CANNOT_TELL}
_SHOWN = 5
_RELOCATING_LIMIT_S = 120.0  # at least: every yield point is compared with the anchors
_ORDER = (
    "the program forked, and what its other processes send is not in the log; if several of them share a pipe, as in a "
    "pool, it may arrive in another order: use a pool with one process"
)


def replay_schedule(
    recorded: Log,
    path: Path,
    *,
    time_limit: float | None,
    exact: bool,
    accept_changes: bool,
    env: tuple[str, ...],
    as_json: bool,
) -> int:
    """Run the program of a log under its schedule again; returns the exit status as ``git bisect run`` takes it.

    Raises:
        ReplayDDError: the program has changed too much, or cannot be run.
    """
    recorded = with_environment(recorded, env)
    limit_s = time_limit or 10 + 20 * recorded.ending.seconds
    relocating_limit_s = time_limit or max(limit_s, _RELOCATING_LIMIT_S)
    sys.stdout.flush()
    if exact:
        check_unchanged(recorded)
    elif changed_files(recorded.program):
        if not accept_changes:
            check_there(recorded)
        return _replay_relocated(recorded, relocating_limit_s, accept_changes, as_json=as_json)
    hangs = bool(recorded.ending.deadlock)
    result = replay(recorded, time_limit_s=limit_s, show_output=not as_json, history=hangs)
    python = result.run.log.program.python
    if python != recorded.program.python:
        if exact:
            check_unchanged(recorded, python=python)
        say(f"recorded under Python {recorded.program.python}: replaying once more, by source lines")
        return _replay_relocated(recorded, relocating_limit_s, accept_changes, as_json=as_json)
    if as_json:
        status = _verdict(result, accept_changes)
        _echo_run(recorded, result.run, status, notes=_new_notes(recorded, result), divergence=result.divergence)
        return status
    echo(f"outcome: {signature_of(result.run.log.ending).text}")
    if result.divergence is None:
        echo("digest: same")
    else:
        echo(f"digest: diverged, {result.divergence}")
    _tell_skipped(result.run.log)
    echo_lines(hang_as_text(result.run.log.ending, recorded.program))
    if result.divergence is not None:
        for note in _new_notes(recorded, result):
            echo(f"note: {note}")
    return _verdict(result, accept_changes)


def _replay_relocated(recorded: Log, limit_s: float, accept_changes: bool, *, as_json: bool) -> int:
    """Replay a changed program by source lines; tell what moved and what could not be found."""
    result = replay_by_anchors(recorded, time_limit_s=limit_s, show_output=not as_json)
    status = _EXITS[result.outcome]
    if result.missed and result.outcome is Outcome.PASS and not accept_changes:
        status = EXIT_CANNOT_TELL  # it might fail with the missing switch
    if as_json:
        notes = _newly_noted(recorded, result.run.log)
        _echo_run(recorded, result.run, status, notes=notes, relocated=relocated_as_json(result))
        return status
    echo(f"outcome: {signature_of(result.run.log.ending).text}")
    changed = changed_files(recorded.program)
    python = result.run.log.program.python
    what = [*changed[:_SHOWN], *([f"Python {python}"] if python != recorded.program.python else [])]
    echo(f"changed: {', '.join(what)}; {relocated_in_words(len(result.anchors), len(result.missed))}")
    for anchor in [anchor for anchor in result.anchors if anchor.moved and anchor not in result.missed][:_SHOWN]:
        place = anchor.switch.place
        if place is not None:
            echo(f"moved: {place} in {place.function} to line {anchor.line} in {anchor.function}")
    for anchor in result.missed[:_SHOWN]:
        switch = anchor.switch
        echo(f"not found: thread {switch.thread} to {switch.to} {switch.where}: {anchor.why}")
    _tell_skipped(result.run.log)
    return status


def _echo_run(
    recorded: Log,
    run: TargetRun,
    status: int,
    *,
    notes: Iterable[str],
    divergence: Divergence | None = None,
    relocated: Mapping[str, Any] | None = None,
) -> None:
    """Print a replay as one JSON object."""
    outcome = next((outcome for outcome, known in _EXITS.items() if known == status), Outcome.UNRESOLVED)
    echo_json(
        replay_as_json(
            "schedule log",
            outcome.value,
            signature_of(run.log.ending).text,
            divergence=None if divergence is None else str(divergence),
            relocated=relocated,
            left_out=_skipped(run.log),
            hang=hang_as_json(run.log.ending, recorded.program),
            notes=notes,
            output=run.output,
        )
    )


def relocated_in_words(switches: int, missed: int) -> str:
    """How many switches were relocated in a changed program."""
    if not switches:
        return "no switches to relocate"
    count = f"{switches} switch{'' if switches == 1 else 'es'}"
    return f"{count}, {missed} not found" if missed else f"{count}, all relocated"


def _tell_skipped(log: Log) -> None:
    for line in _skipped(log)[:_SHOWN]:
        echo(f"skipped: {line}")


def _skipped(log: Log) -> list[str]:
    return [
        f"thread {thread} to {to} at thread time {time}: thread {to} could not run"
        for thread, time, to in log.ending.skipped
    ]


def _new_notes(recorded: Log, result: ReplayResult) -> Iterator[str]:
    """What should be known of a replay beside what was known of the recorded run."""
    yield from _newly_noted(recorded, result.run.log)
    if result.divergence is not None and FORKED in recorded.ending.notes:
        yield _ORDER


def _newly_noted(recorded: Log, repeated: Log) -> Iterator[str]:
    """What was not under control in the replay, if that was otherwise in the recorded run."""
    for note in repeated.ending.notes:
        if note not in recorded.ending.notes and not note.startswith(UNLIKE):  # the divergence has those
            yield note


def _verdict(result: ReplayResult, accept_changes: bool) -> int:
    if result.divergence is not None and not accept_changes:
        return EXIT_CANNOT_TELL
    return _EXITS[result.outcome]

"""Recorded, replayed and hunted runs as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from replay_dd.events.doctor import Finding

RECORDING_FORMAT = "replay-dd recording"
REPLAY_FORMAT = "replay-dd replay"
HUNT_FORMAT = "replay-dd hunt"
MONKEY_FORMAT = "replay-dd monkey"
DOCTOR_FORMAT = "replay-dd doctor"
VERSION = 1
_MOST_OUTPUT = 100_000  # characters


def recording_as_json(kind: str, path: Path, summary: Mapping[str, Any], output: bytes | str = b"") -> dict[str, Any]:
    """The object that ``record --json`` prints.

    Args:
        kind: of the recording.
        path: where it was written.
        summary: the object that ``show --json`` prints for it.
        output: what the program printed.
    """
    return {
        "format": RECORDING_FORMAT,
        "version": VERSION,
        "kind": kind,
        "files": {"log": str(path)},
        "recording": dict(summary),
        "output": last_of(output),
    }


def replay_as_json(
    kind: str,
    outcome: str,
    ending: str,
    *,
    divergence: str | None = None,
    relocated: Mapping[str, Any] | None = None,
    left_out: Iterable[str] = (),
    hang: Mapping[str, Any] | None = None,
    notes: Iterable[str] = (),
    output: bytes | str = b"",
) -> dict[str, Any]:
    """The object that ``replay --json`` prints.

    Args:
        kind: of the recording.
        outcome: PASS, FAIL or UNRESOLVED, as the exit status says it.
        ending: how the program ended, in words.
        divergence: where the replay differed from the recording; None if it did not.
        relocated: which switches were found again in a changed program; None if it has not changed.
        left_out: what of the recording could not be repeated, in words.
        hang: how it hung; None if it did not.
        notes: what else should be known about the run.
        output: what the program printed.
    """
    return {
        "format": REPLAY_FORMAT,
        "version": VERSION,
        "kind": kind,
        "outcome": outcome,
        "ending": ending,
        "divergence": divergence,
        "relocated": None if relocated is None else dict(relocated),
        "left_out": list(left_out),
        "hang": None if hang is None else dict(hang),
        "notes": list(notes),
        "output": last_of(output),
    }


def doctor_as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """The object that ``doctor --json`` prints."""
    return {
        "format": DOCTOR_FORMAT,
        "version": VERSION,
        "works": all(finding.works for finding in findings if finding.needed),
        "findings": [asdict(finding) for finding in findings],
    }


def files_as_json(files: Mapping[str, Path | None]) -> dict[str, str]:
    """The paths of what was written, by what it is."""
    return {name: str(path) for name, path in files.items() if path is not None}


def hunt_as_json(
    *,
    failures: Sequence[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    no_verdict: Sequence[Mapping[str, Any]],
    runs: int,
    simplifying_runs: int,
    not_reproduced: int,
    yield_points: int,
    one_schedule: bool,
    interrupted: bool,
    out_of_time: bool,
    files: Mapping[str, Path | None],
    further: Sequence[Mapping[str, str]],
    hang: Mapping[str, Any] | None,
    notes: Iterable[str],
    coverage: Mapping[str, int] | None,
    corpus: Mapping[str, Any] | None,
    failure: str | None,
    hints: Iterable[str],
) -> dict[str, Any]:
    """The object that ``hunt --json`` prints.

    Args:
        failures: the endings that count as the failure, each with its text, runs and messages.
        others: failures with another description.
        no_verdict: endings that are neither.
        runs: the number of runs.
        simplifying_runs: how many more simplified the schedules.
        not_reproduced: runs whose replay diverged.
        yield_points: of a run, about.
        one_schedule: whether the program starts no threads.
        interrupted: whether Ctrl-C ended it.
        out_of_time: whether the time budget ended it.
        files: the logs that were written.
        further: the texts and logs of further failures.
        hang: how the failing run hung; None if it did not.
        notes: what else should be known about the runs.
        coverage: what the runs covered; None if that is not known.
        corpus: what the corpus knows now; None if there is none.
        failure: how the run of the failing log ends; None if there is none.
        hints: what to try next.
    """
    return {
        "format": HUNT_FORMAT,
        "version": VERSION,
        "failures": [dict(one) for one in failures],
        "other_failures": [dict(one) for one in others],
        "no_verdict": [dict(one) for one in no_verdict],
        "runs": runs,
        "simplifying_runs": simplifying_runs,
        "not_reproduced": not_reproduced,
        "yield_points": yield_points,
        "one_schedule": one_schedule,
        "interrupted": interrupted,
        "out_of_time": out_of_time,
        "files": files_as_json(files),
        "further": [dict(one) for one in further],
        "hang": None if hang is None else dict(hang),
        "notes": list(notes),
        "coverage": None if coverage is None else dict(coverage),
        "corpus": None if corpus is None else dict(corpus),
        "failure": failure,
        "hints": list(hints),
    }


def last_of(output: bytes | str) -> str:
    """The end of what a program printed."""
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    return text[-_MOST_OUTPUT:]

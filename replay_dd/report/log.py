"""A schedule log as text and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from replay_dd.report.hangs import hang_as_json, hang_as_text
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Log, Switch, Waiter

if TYPE_CHECKING:
    from replay_dd.schedules.replaying.anchored_replay import AnchoredReplay

_FORMAT = "replay-dd schedule summary"
_VERSION = 1


def notes_of(*logs: Log | None) -> list[str]:
    """What is known not to have been under control in these runs, without duplicates."""
    return list(dict.fromkeys(note for log in logs if log is not None for note in log.ending.notes))


def describe_notes(*logs: Log | None) -> Iterator[str]:
    """The same, one line each."""
    for note in notes_of(*logs):
        yield f"note         {note}"


def describe_log(log: Log) -> Iterator[str]:
    """A short summary of a log."""
    program, ending = log.program, log.ending
    verdict = {True: "yes", False: "NO: a replay diverged", None: "not tried"}[log.verified]
    yield f"command      {shlex.join(program.command)}"
    yield f"python       {program.python}, yield points at {log.settings.granularity}, strategy {log.strategy}"
    yield f"outcome      {signature_of(ending).text}"
    threads = len(ending.thread_times)
    yield f"size         {ending.global_time:,} yield points, {threads} thread{'' if threads == 1 else 's'}"
    yield f"schedule     {len(log.switches):,} switches, {len(log.triggers):,} of them not by default"
    yield f"digest       {ending.digest:016x}"
    yield f"reproduced   {verdict}"
    yield from describe_notes(log)
    for waiter in ending.deadlock:
        yield f"deadlock     thread {waiter.thread} {waiter.explanation}"
        for frame in () if ending.hang is not None else waiter.frames[:5]:
            yield f"                 at {frame.file}:{frame.line} in {frame.function}"
    yield from hang_as_text(ending, program)


def schedule_as_json(log: Log) -> dict[str, Any]:
    """The object that ``show --json`` prints: the program, how it ended, and each switch."""
    program, ending = log.program, log.ending
    signature = signature_of(ending)
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "command": list(program.command),
        "directory": program.directory,
        "python": program.python,
        "granularity": log.settings.granularity,
        "strategy": log.strategy,
        "ending": {
            "text": signature.text,
            "failed": signature.failed,
            "status": ending.status,
            "signal": ending.signal,
            "timed_out": ending.timed_out,
        },
        "yield_points": ending.global_time,
        "threads": dict(ending.thread_times),
        "switches": [_switch_as_json(switch) for switch in log.switches],
        "deadlock": [_waiter_as_json(waiter) for waiter in ending.deadlock],
        "hang": hang_as_json(ending, program),
        "digest": f"{ending.digest:016x}",
        "verified": log.verified,
        "notes": notes_of(log),
    }


def relocated_as_json(replayed: AnchoredReplay) -> dict[str, Any]:
    """The member ``relocated`` of the object that ``replay --json`` prints."""
    return {
        "switches": len(replayed.anchors),
        "missed": [
            {"thread": one.switch.thread, "to": one.switch.to, "where": one.switch.where, "why": one.why}
            for one in replayed.missed
        ],
        "moved": [
            {"thread": one.switch.thread, "to": one.switch.to, "where": one.switch.where, "line": one.line}
            for one in replayed.anchors
            if one.moved and one not in replayed.missed
        ],
    }


def _switch_as_json(switch: Switch) -> dict[str, Any]:
    place = switch.place
    return {
        "thread": switch.thread,
        "time": switch.time,
        "global_time": switch.global_time,
        "to": switch.to,
        "forced": switch.forced,
        "ended": switch.ended,
        "by_default": switch.by_default,
        "file": None if place is None else place.file,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "function": None if place is None else place.function,
        "instruction": None if place is None else place.instruction,
    }


def _waiter_as_json(waiter: Waiter) -> dict[str, Any]:
    return {
        "thread": waiter.thread,
        "waits": waiter.explanation,
        "frames": [
            {"file": frame.file, "line": frame.line, "function": frame.function, "counted": frame.counted}
            for frame in waiter.frames
        ],
    }

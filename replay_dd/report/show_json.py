"""The JSON objects that ``show --json`` prints for recordings.

Each has the keys ``format`` and ``version``; more keys may be added under the same version.
"""

from __future__ import annotations

from typing import Any

from replay_dd.events.model import Session
from replay_dd.report.events import session_as_json
from replay_dd.report.log import notes_of
from replay_dd.schedules.failure_signature import signature_of
from replay_dd.schedules.model import Log, Switch, Waiter
from replay_dd.web.describe import describe
from replay_dd.web.flow import Flow

VERSION = 1


def schedule_as_json(log: Log) -> dict[str, Any]:
    """A schedule log: the program, how it ended, and each switch."""
    program, ending = log.program, log.ending
    signature = signature_of(ending)
    return {
        "format": "replay-dd schedule summary",
        "version": VERSION,
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
        "digest": f"{ending.digest:016x}",
        "verified": log.verified,
        "notes": notes_of(log),
    }


def session_summary(session: Session) -> dict[str, Any]:
    """A GUI session: the program, its actions in words, and how it ended."""
    return {"format": "replay-dd session summary", "version": VERSION, **session_as_json(session)}


def flow_as_json(flow: Flow) -> dict[str, Any]:
    """A user flow: its steps in words."""
    return {
        "format": "replay-dd flow summary",
        "version": VERSION,
        "title": flow.title,
        "timeout_ms": flow.timeout_ms,
        "steps": [{"type": step.type, "text": describe(step)} for step in flow.steps],
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

"""A schedule log as text."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from replay_dd.schedules.failure_signature import signature_of
from replay_dd.schedules.model import Log


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
        for frame in waiter.frames[:5]:
            yield f"                 at {frame.file}:{frame.line} in {frame.function}"

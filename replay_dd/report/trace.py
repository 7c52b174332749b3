"""Runs as a trace for Perfetto (ui.perfetto.dev) and chrome://tracing: threads, locks, switches, values.

Rules of this module:

* The JSON form of Chrome's Trace Event Format, as "Trace Event Format" (the Chromium project) defines it: complete
  events (X) for turns, accesses and locks, flow events (s, f) for switches, counters (C) for numbers, metadata (M) for
  names.
* A trace counts time in microseconds. There is no real time in a schedule: ten of them are one yield point of all
  threads together.
* Each run is a process of the trace, each of its threads a thread, and each lock a thread of its own, below.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from replay_dd.files import write_whole
from replay_dd.report.held_locks import Locks
from replay_dd.report.source import source_line
from replay_dd.report.timeline import by_path, turns_of
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.model import Log, Switch
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Access, Observation
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.words import Letters
from replay_dd.trust.printable import printable

_YIELD_POINT_US = 10
_FIRST_LOCK = 1_000_000  # above the numbers of all threads
_MOST_EVENTS = 500_000
_LONGEST_TEXT = 1_000

Event = dict[str, Any]


@dataclass(frozen=True)
class TracedRun:
    """A run to be drawn.

    Attributes:
        name: what it is, such as "fails".
        log: its switches.
        observation: what was seen of it.
        lit: the switch that makes the difference.
    """

    name: str
    log: Log
    observation: Observation = NOTHING_OBSERVED
    lit: Switch | None = None


def write_trace(runs: Sequence[TracedRun], path: Path) -> None:
    """Write a trace to a file.

    Raises:
        OutputError: it cannot be written.
    """
    write_whole(path, json.dumps(trace_of(runs), separators=(",", ":")).encode())


def trace_of(runs: Sequence[TracedRun]) -> dict[str, Any]:
    """The trace as one JSON object."""
    events: list[Event] = []
    left_out = 0
    for number, run in enumerate(runs, 1):
        most = _MOST_EVENTS // len(runs)
        told = _Run(run, number).events()
        events += islice(told, most)
        left_out += sum(1 for _ in told)
    about = {"made by": "replay-dd", "time": f"{_YIELD_POINT_US} us are one yield point; there is no real time"}
    if left_out:
        about["left out"] = f"{left_out:,} events"
    return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": about}


def twins_traced(found: ScheduleIsolation, explanation: Explanation) -> tuple[TracedRun, ...]:
    """Both final runs of an isolation."""
    twins, switch = explanation.twins, found.switch
    return (
        TracedRun(
            *("fails", found.failing, NOTHING_OBSERVED if twins is None else twins.failing),
            lit=None if switch is None else switch.failing,
        ),
        TracedRun(
            *("passes", found.passing, NOTHING_OBSERVED if twins is None else twins.passing),
            lit=None if switch is None else switch.passing,
        ),
    )


class _Run:
    """Draws one run.

    Args:
        run: the run.
        process: its number in the trace.
    """

    def __init__(self, run: TracedRun, process: int) -> None:
        self._run = run
        self._process = process
        log = run.log
        names = {name for switch in log.switches for name in (switch.thread, switch.to)} | set(log.ending.thread_times)
        names |= {"0"} | {access.thread for access in run.observation.accesses}
        self._threads = {name: number for number, name in enumerate(sorted(names, key=by_path), 1)}
        self._letters = Letters()

    def events(self) -> Iterator[Event]:
        """All its events; names come first."""
        yield self._named("process_name", 0, name=_text(f"{self._run.name}: {self._run.log.program.command[0]}"))
        yield self._named("process_sort_index", 0, sort_index=self._process)
        for name, number in self._threads.items():
            yield self._named("thread_name", number, name="main thread 0" if name == "0" else f"thread {name}")
            yield self._named("thread_sort_index", number, sort_index=number)
        yield from self._turns()
        yield from self._accesses()
        yield from self._locks()

    def _turns(self) -> Iterator[Event]:
        for number, turn in enumerate(turns_of(self._run.log), 1):
            switch = turn.switch
            start, stop = turn.start * _YIELD_POINT_US, turn.stop * _YIELD_POINT_US
            arguments: dict[str, object] = {"yield points": turn.stop - turn.start}
            if switch is not None:
                arguments |= self._about(switch)
            thread = self._threads[turn.thread]
            yield self._slice("runs", thread, start, max(stop - start, 1), arguments)
            if switch is None:
                return
            lit = self._run.lit
            guilty = lit is not None and (switch.trigger, switch.global_time) == (lit.trigger, lit.global_time)
            name = "the switch that makes the difference" if guilty else "switch"
            identity = f"{self._process}.{number}"
            # The arrow begins within the slice that ends, and ends where the next one begins.
            begins = self._event("s", name, thread, max(start, stop - 1)) | {"cat": "switch", "id": identity}
            ends = self._event("f", name, self._threads[switch.to], stop) | {"cat": "switch", "id": identity, "bp": "e"}
            yield from (begins, ends)
            if guilty:
                yield self._event("i", name, thread, max(start, stop - 1)) | {"s": "p", "args": arguments}

    def _about(self, switch: Switch) -> dict[str, object]:
        why = "ended" if switch.ended else "had to wait" if switch.forced else "was preempted"
        place = switch.place
        stack = self._run.observation.switch_stacks.get((switch.thread, switch.time), ())
        told: dict[str, object] = {
            "why it stops": why,
            "next": switch.to,
            "thread time": switch.time,
            "by default": switch.by_default,
        }
        if place is not None:
            told["at"] = _text(f"{place} in {place.function}")
            told["source"] = _text(source_line(place, self._run.log.program))
        if stack:
            told["stack"] = _text(" < ".join(f"{frame.function} ({frame.file}:{frame.line})" for frame in stack))
        return told

    def _accesses(self) -> Iterator[Event]:
        accesses = self._run.observation.accesses
        several = Counter(access.global_time for access in accesses)
        done: Counter[int] = Counter()
        for access in accesses:
            # Those of one yield point share its time.
            share = max(_YIELD_POINT_US // several[access.global_time], 1)
            at = access.global_time
            start = at * _YIELD_POINT_US + min(done[at] * share, _YIELD_POINT_US - 1)
            done[at] += 1
            words = self._letters.does(access)
            name = words if access.thing[0] == "lock" else f"{access.name}: {words}"
            yield self._slice(_text(name), self._threads[access.thread], start, share, self._seen(access))
            value = _number(access.new.text if access.writes else access.old.text)
            if value is not None and access.thing[0] in ("attribute", "item", "global", "cell"):
                yield self._event("C", _text(access.name), 0, start) | {"args": {"value": value}}

    def _seen(self, access: Access) -> dict[str, object]:
        locks = self._run.observation.locks
        told = {
            "does": access.does,
            "what": access.name,
            "at": f"{access.place} in {access.place.function}",
            "source": source_line(access.place, self._run.log.program),
            "old": self._letters.value(access.old) if access.old.is_known else "",
            "new": self._letters.value(access.new) if access.writes and access.new.is_known else "",
            "locks held": ", ".join(locks.get(lock, "a lock") for lock in access.held),
            "stack": " < ".join(
                f"{frame.function} ({frame.file}:{frame.line})" for frame in access.stack if frame.counted
            ),
        }
        return {name: _text(text) for name, text in told.items() if text}

    def _locks(self) -> Iterator[Event]:
        locks = Locks(self._run.observation, self._letters)
        tracks = {lock: _FIRST_LOCK + number for number, lock in enumerate(locks.names())}
        for lock, name in locks.names().items():
            yield self._named("thread_name", tracks[lock], name=_text(f"lock {name}"))
            yield self._named("thread_sort_index", tracks[lock], sort_index=tracks[lock])
        since: dict[int, tuple[str, int]] = {}
        for access in self._run.observation.accesses:
            locks.see(access)
            now = access.global_time * _YIELD_POINT_US
            holders = {lock: thread for thread, held in locks.held().items() for lock in held}
            for lock in tracks:
                holder = holders.get(lock)
                if lock in since and since[lock][0] != holder:
                    yield self._held(tracks[lock], *since.pop(lock), now)
                if holder is not None:
                    since.setdefault(lock, (holder, now))
        end = self._run.log.ending.global_time * _YIELD_POINT_US
        for lock, (holder, began) in since.items():
            yield self._held(tracks[lock], holder, began, max(end, began))

    def _held(self, track: int, holder: str, start: int, stop: int) -> Event:
        return self._slice(f"held by {holder}", track, start, max(stop - start, 1), {})

    def _slice(self, name: str, thread: int, start: int, duration: int, arguments: Mapping[str, object]) -> Event:
        return self._event("X", name, thread, start) | {"dur": duration, "args": dict(arguments)}

    def _event(self, phase: str, name: str, thread: int, time: int) -> Event:
        return {"ph": phase, "name": name, "pid": self._process, "tid": thread, "ts": time}

    def _named(self, what: str, thread: int, **arguments: object) -> Event:
        return self._event("M", what, thread, 0) | {"args": arguments}


def _text(text: str) -> str:
    return printable(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…")


def _number(text: str) -> float | None:
    """The number that a value is; None if it is none that a chart can show."""
    if text in ("True", "False", "None", "nothing"):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < 1e15 else None

"""Diagnoses where and why two replays of one log diverge.

Rules of this module:

* A search compares runs of different schedules. That means something only if one schedule always gives the same run,
  so both logs are replayed twice beforehand (see :mod:`~replay_dd.experiment.baseline`).
* If two replays diverge, more replays are made that trace every yield point, until two of them diverge. The first
  differing yield point is reported, with the source line before it and the likely cause.
* The cause is a guess, from what the runs reported and from the source, which is why it is called likely.
"""

from __future__ import annotations

import linecache
import re
from dataclasses import replace
from typing import NamedTuple

from replay_dd.schedules.model import Log, Place
from replay_dd.schedules.replaying.replay import exact_plan
from replay_dd.schedules.running.target import TargetRun, run_target
from replay_dd.schedules.runtime.channel import UNLIKE

_PAIRS = 4  # the maximum number of pairs of traced replays
_TRACED = 300_000  # yield points
_LOOK_BACK = 12  # previous lines of the same thread, latest first, that are searched for the cause

_OUTSIDE = "input from outside (another process, the network, or a file that an earlier run changed)"
_ADDRESSES = "the order of addresses, which sets of objects follow"
_LOOP = re.compile(r"\bfor\b.+?\bin\b\s+(?P<what>[\w.]+)\s*(?=:|\]|\}|\)|if\b|$)")  # over a name, or an attribute
_CAUSES = (
    (r"\bid\(|\bset\(|frozenset|WeakSet|\{[^:{}]+ for |\bhash\(", _ADDRESSES),
    (r"\brecv|\bread|\bopen\(|\blistdir|\bscandir|\bglob|\bstat\(|exists\(|getmtime|input\(|environ", _OUTSIDE),
    (r"getpid|native_id|get_ident", "process and thread ids assigned by the system"),
)
_CLOCK = (
    r"\btime\b|datetime|monotonic|perf_counter|\bnow\(",
    "the real clock, which the program reads (`--real-clock`)",
)
_ENTROPY = (r"random|uuid|secrets|shuffle|choice", "entropy that is not fixed (`--real-entropy`)")


class TracedDivergence(NamedTuple):
    """Where two traced runs of one schedule diverge.

    Attributes:
        number: how many yield points they share.
        thread: the thread at the first differing yield point, in each run; empty if the run had ended.
        places: the place of that yield point, in each run.
        before: the last place that this thread passed in both.
        cause: a description of the likely cause.
    """

    number: int
    thread: tuple[str, str]
    places: tuple[Place | None, Place | None]
    before: Place | None
    cause: str

    def __str__(self) -> str:
        ways = [
            f"thread {thread} at {place or 'an operation in library code'}" if thread else "the end of the run"
            for thread, place in zip(self.thread, self.places, strict=True)
        ]
        text = f"after {self.number:,} common yield points comes {ways[0]} in one, {ways[1]} in the other"
        if self.before is not None:
            text += f". Just before that: {self.before}: `{_text_of(self.before)}`"
        return f"{text}. Likely cause: {self.cause}."


def diagnose(log: Log, time_limit_s: float | None) -> str:
    """Describe where replays of a log diverge, and why; empty if traced replays do not."""
    divergence = find_traced_divergence(log, time_limit_s)
    return "" if divergence is None else str(divergence)


def find_traced_divergence(log: Log, time_limit_s: float | None) -> TracedDivergence | None:
    """Replay a log in fresh processes, tracing each yield point, until two replays diverge; None if none do."""
    plan = replace(exact_plan(log, time_limit_s), traced=_TRACED)
    first = run_target(log.program, log.settings, plan, time_limit_s=time_limit_s)
    for _ in range(_PAIRS):
        second = run_target(log.program, log.settings, plan, time_limit_s=time_limit_s)
        divergence = compare_traces(first, second)
        if divergence is not None:
            return divergence
    return None


def compare_traces(first: TargetRun, second: TargetRun) -> TracedDivergence | None:
    """Where two traced runs diverge; None if they do not within the traced part."""
    one, other = first.trace, second.trace
    both = min(len(one), len(other))
    number = next((at for at in range(both) if _key(one[at]) != _key(other[at])), both)
    if number == both and (len(one) == len(other) or both >= _TRACED):
        return None
    ends = [trace[number] if number < len(trace) else ("", None) for trace in (one, other)]
    thread = ends[0][0] or ends[1][0]
    way = [place for name, place in one[:number] if name == thread and place is not None]
    return TracedDivergence(
        number,
        (ends[0][0], ends[1][0]),
        (ends[0][1], ends[1][1]),
        way[-1] if way else None,
        _likely_cause(first, second, way),
    )


def _text_of(place: Place) -> str:
    return linecache.getline(place.path, place.line).strip()


def _key(point: tuple[str, Place | None]) -> tuple[str, int]:
    thread, place = point
    return thread, 0 if place is None else place.key


def _likely_cause(first: TargetRun, second: TargetRun, way: list[Place]) -> str:
    notes = {*first.log.ending.notes, *second.log.ending.notes}
    unlike = next((note for note in sorted(notes) if note.startswith(UNLIKE)), "")
    if unlike:
        return f"{_OUTSIDE}: {unlike}"
    told = next((note for note in sorted(notes) if "control" in note), "")
    if told:
        return f"something that is not under control ({told})"
    settings = first.log.settings
    causes = [cause for wanted, cause in ((settings.real_clock, _CLOCK), (settings.real_entropy, _ENTROPY)) if wanted]
    lines = dict.fromkeys(_text_of(place) for place in reversed(way))
    for line in list(lines)[:_LOOK_BACK]:
        for pattern, cause in (*causes, *_CAUSES):
            if re.search(pattern, line):
                return cause + _iterated(way) * (cause == _ADDRESSES)
    if first.log.arrivals != second.log.arrivals:
        return _OUTSIDE
    if causes:
        return causes[0][1]
    iterated = _iterated(way)
    if iterated:
        return f"unknown; perhaps {_ADDRESSES}{iterated}"
    return "unknown; often the order of addresses, a file left by an earlier run, or another process"


def _iterated(way: list[Place]) -> str:
    """What the thread iterated over just before, if its line says so: perhaps a set or a dict of objects."""
    for place in way[: -_LOOK_BACK - 1 : -1]:
        found = _LOOP.search(_text_of(place)) if place.instruction == "FOR_ITER" else None
        if found:
            return f", if `{found['what']}` in {place.file}:{place.line} is one (or a dict with such keys)"
    return ""

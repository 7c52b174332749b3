"""What the values in a schedule log must be, besides their types: the ranges, names and records that can occur.

Rules of this module:

* What is refused here cannot have been recorded. Whatever is accepted can be shown, compared, and handed to a run.
* Names and arguments are those of :mod:`replay_dd.system_texts`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from replay_dd.experiment import resource_limits
from replay_dd.schema import SMALLEST_INTEGER, Form, Rule, numbers, one_of

_LARGEST_COUNT = 2**62  # above any time that a run reaches
_LARGEST_LINE = 2**31 - 1  # CPython keeps lines and columns as int
_LONGEST_RUN_S = 1e9
_LONGEST_THREAD = 65_536  # timers that start each other make ids that grow

Count = Annotated[int, numbers(0, _LARGEST_COUNT)]
"""Thread times, global times, visits and the like."""

SourceLine = Annotated[
    int,
    Form(
        f"a number from 0 to {_LARGEST_LINE:,}",
        lambda line: line,
        lambda line: 0 if line is None else _checked_line(line),  # of code without lines
    ),
]
Column = Annotated[int, numbers(0, _LARGEST_LINE)]
Hash64 = Annotated[int, numbers(0, 2**64 - 1)]
Seconds = Annotated[
    float, Rule(f"a number of seconds from 0 to {_LONGEST_RUN_S:,.0f}", lambda s: 0 <= s <= _LONGEST_RUN_S)
]
ExitStatus = Annotated[int, numbers(0, 255)]
SignalNumber = Annotated[int, numbers(1, 64)]
ResourceName = Annotated[str, one_of(*resource_limits.NAMES)]
ResourceLimit = Annotated[int, numbers(resource_limits.UNLIMITED, 2**63 - 1)]
Granularity = Annotated[str, one_of("sync", "gil", "line", "access")]


def _checked_line(line: Any) -> int:
    if type(line) is not int or not 0 <= line <= _LARGEST_LINE:
        raise ValueError
    return line


# -- names -----------------------------------------------------------------------------------------------------------

_THREAD = re.compile(r"0(?:\.[1-9][0-9]{0,8})*")


def is_thread(name: object) -> bool:
    """Whether this is the id of a thread: ``0`` for the main one, ``0.2.1`` for the first that its second started."""
    return isinstance(name, str) and len(name) <= _LONGEST_THREAD and _THREAD.fullmatch(name) is not None


ThreadId = Annotated[str, Rule("the id of a thread such as 0.2.1", is_thread)]
RaisedIn = Annotated[str, Rule("main or the id of a thread", lambda name: name == "main" or is_thread(name))]
ModuleName = Annotated[str, Rule("a name of a module", lambda name: "\0" not in name)]
_EXPRESSION = re.compile(r"(?:[^\W\d]\w*(?:\.[^\W\d]\w*)*)?")
Expression = Annotated[
    str, Rule("names with dots between them", lambda text: len(text) < 1000 and _EXPRESSION.fullmatch(text) is not None)
]
EntropyKey = Annotated[
    str, Rule("32 bytes in hexadecimal digits, or nothing", re.compile(r"(?:[0-9a-f]{64})?").fullmatch)
]
FileHash = Annotated[str, Rule("a hash in hexadecimal digits", re.compile(r"(?:[0-9a-f]{2}){0,32}").fullmatch)]


# -- digests ---------------------------------------------------------------------------------------------------------

_DIGEST = re.compile(r"[0-9a-f]{16}")


def _read_digest(text: Any) -> int:
    if type(text) is not str or _DIGEST.fullmatch(text) is None:
        raise ValueError
    return int(text, 16)


Digest = Annotated[int, Form("16 hexadecimal digits", lambda digest: f"{digest:016x}", _read_digest)]


# -- what came from outside ------------------------------------------------------------------------------------------

_WHICH = re.compile(r"(?:from|to) [0-9]{1,10}|at [^\x00-\x1f\x7f]+:[0-9]{1,10}")
_MOST_SIGNALS = 64
_AWAY, _ABOUT_DATABASES = "away", ("refused", "held", "done", "old")


def _read_arrival(record: Any) -> tuple[Any, ...]:
    """One record of the channel; see ``runtime/channel.py``."""
    match record:
        case ["arrival", str(thread), int(number), str(by), int(time), answer, *which]:
            if is_thread(thread) and _is_count(number) and (by == "" or is_thread(by)) and _is_count(time):
                return ("arrival", thread, number, by, time, _read_answer(answer), *_read_which(which))
        case ["due", str(by), int(time), str(thread)]:
            if is_thread(by) and _is_count(time) and is_thread(thread):
                return ("due", by, time, thread)
        case ["passed", str(thread), int(number), int(duration_ns)]:
            if is_thread(thread) and _is_count(number) and _is_count(duration_ns):
                return ("passed", thread, number, duration_ns)
        case ["signal", str(by), int(time), int(number), int(duration_ns)]:
            if is_thread(by) and _is_count(time) and 0 < number <= _MOST_SIGNALS and _is_count(duration_ns):
                return ("signal", by, time, number, duration_ns)
    raise ValueError


def _read_which(which: list[Any]) -> list[Any]:
    """The descriptor, or the line of the program that waited, if it is told."""
    match which:
        case []:
            return which
        case [str(text)] if _WHICH.fullmatch(text):
            return which
    raise ValueError


def _read_answer(answer: Any) -> Any:
    """What an operation got; lists are tuples in a run."""
    if answer is None or _is_number(answer):
        return answer
    if isinstance(answer, list):
        match answer:
            case [str(word), time, contacts, system_call] if word == _AWAY:
                if _is_count(time) and _is_count(contacts) and _is_number(system_call):
                    return (word, time, contacts, system_call)
            case [str(word), request] if word in _ABOUT_DATABASES and _is_count(request):
                return (word, request)
            case [microseconds, time] if _is_count(microseconds) and _is_count(time):
                return (microseconds, time)
        if all(isinstance(pair, list) and len(pair) == 2 and all(map(_is_number, pair)) for pair in answer):
            return tuple((descriptor, events) for descriptor, events in answer)
    raise ValueError


def _is_number(value: Any) -> bool:
    return type(value) is int and SMALLEST_INTEGER <= value <= -SMALLEST_INTEGER


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST_COUNT


Arrival = Annotated[
    tuple[Any, ...],
    Form("a record of what came from outside, as the log format describes it", list, _read_arrival),
]

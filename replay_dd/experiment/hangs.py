"""Where a program is that does not end, seen from outside when its time is over.

Rules of this module:

* Of all that a command has started, the thread that works hardest is looked at; where all wait, what was started last.
* A program that goes round in a loop is somewhere else at each look, and in the same function. So the place is the
  innermost function that is there in all looks at the stack.
* An interpreter is asked, too: Python and Lua say where they are when they are interrupted, Java and Ruby at SIGQUIT.
  What they say after that is no output of the program.
* A look may not make a run last much longer: the program is killed in any case.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import struct
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from replay_dd.experiment.crash_places import Sampler
from replay_dd.experiment.crash_reports import crash_report
from replay_dd.experiment.crash_words import is_library, with_source
from replay_dd.experiment.frame_tables import table_of
from replay_dd.experiment.language_reports import java_dump_place
from replay_dd.experiment.memory_maps import module_and_offset
from replay_dd.experiment.process_tree import children_of
from replay_dd.experiment.source_lines import source_of

_LOOKS = 12
_BETWEEN_NS = 1_000_000  # of processor time: what had no processor since the last look is where it was
_LOOKING_LIMIT_S = 1.0
_MEASURED_S = 0.1
_IDLE_NS = 1_000_000  # of processor time, in what was measured
_ANSWER_LIMIT_S = 1.5
_POLL_S = 0.02
_INTERRUPTED = re.compile(
    r"^(?P<ruby>[^\s:]+:\d+):in [`'].*': (?:Interrupt|SIGQUIT \(SignalException\))$"
    r"|^lua[\w.]*: (?P<lua>[^\s:]+:\d+): interrupted!$",
    re.MULTILINE,
)
_WITHIN = re.compile(r":\d+|\+0x[0-9a-f]+")
_PYTHON = "KeyboardInterrupt"

_Call = tuple[str, int]


class _Thread(NamedTuple):
    """A thread of what a command has started; how far from the command that is."""

    process: int
    number: int
    depth: int


def where_it_hangs(process: int, output: Path) -> str:
    """Where a process, or what it has started, is; empty if that cannot be seen.

    It should be killed after that: it may have been interrupted.

    Args:
        process: its number.
        output: the file that it writes to.
    """
    hardest, is_busy = _hardest(_threads(process))
    if hardest is None:
        return ""
    seen = _seen(hardest, _LOOKS if is_busy else 1)
    return _answer(hardest.process, output) or seen


def _threads(process: int) -> list[_Thread]:
    found: list[_Thread] = []
    waiting = [(process, 0)]
    while waiting:
        one, depth = waiting.pop()
        with contextlib.suppress(OSError):
            found += [_Thread(one, int(name), depth) for name in os.listdir(f"/proc/{one}/task")]
        waiting += [(child, depth + 1) for child in children_of(one)]
    return found


def _hardest(threads: Sequence[_Thread]) -> tuple[_Thread | None, bool]:
    """The thread that works hardest; where all wait, the first one of the process that was started last.

    Returns:
        The thread, if there is one, and whether it works.
    """
    before = {thread: _processor_ns(thread) for thread in threads}
    time.sleep(_MEASURED_S)
    worked = {thread: _processor_ns(thread) - before[thread] for thread in threads}
    busy = [thread for thread in threads if worked[thread] > _IDLE_NS]
    if busy:
        return max(busy, key=lambda thread: worked[thread]), True
    firsts = [thread for thread in threads if thread.number == thread.process]
    return max(firsts, key=lambda thread: (thread.depth, thread.process), default=None), False


def _processor_ns(thread: _Thread) -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{thread.process}/task/{thread.number}/schedstat").read_text().split()[0])
    return 0


def _seen(thread: _Thread, amount: int) -> str:
    """Where so many looks at a thread's stack find it."""
    looks: list[tuple[_Call, ...]] = []
    ends_at = time.monotonic() + _LOOKING_LIMIT_S
    with Sampler(thread.number) as sampler:
        while len(looks) < amount and (calls := sampler.look()):
            looks.append(calls)
            worked_ns = _processor_ns(thread) + _BETWEEN_NS
            while len(looks) < amount and _processor_ns(thread) < worked_ns and time.monotonic() < ends_at:
                time.sleep(_POLL_S / 10)
            if time.monotonic() >= ends_at:
                break
    call = common_call(looks)
    if call is None:
        return ""
    return with_source(module_and_offset(*call), source_of(*call))


def common_call(looks: Sequence[Sequence[_Call]]) -> _Call | None:
    """The call, or the place, in the innermost function that all looks at a stack find in the same place on it.

    Args:
        looks: of each, files and offsets in them, innermost first.

    Returns:
        One outside of the C library, if there is any; the first one in the file, where the looks find several.
    """
    if not looks:
        return None
    common: list[_Call] = []
    for calls in zip(*(reversed(look) for look in looks), strict=False):
        if len({_function(call) for call in calls}) > 1:
            break
        common.append(min(calls))
        if len(set(calls)) > 1:
            break
    own = [call for call in common if not is_library(call[0])]
    if own:
        return own[-1]
    if common:
        return common[-1]
    # Nothing tells who called whom: where it is most often.
    (most, _), *_ = Counter(_function(look[0]) for look in looks).most_common(1)
    return min(look[0] for look in looks if _function(look[0]) == most)


def _function(call: _Call) -> tuple[str, object]:
    """What tells in which function a place is: its beginning, its name, or the place itself."""
    table = table_of(call[0])
    begins = None
    if table is not None:
        with contextlib.suppress(KeyError, ValueError, IndexError, struct.error):
            begins = table.function_at(call[1])
    if begins is not None:
        return call[0], begins
    return call[0], source_of(*call).partition(" (")[0] or call[1]


def function_in(place: str) -> str:
    """What a place says of the function alone, without a line or an offset in it."""
    function = place.rpartition(": ")[2].partition(" (")[0] if ": " in place else place.rpartition(", from ")[2]
    return _WITHIN.sub("", function)


def _answer(process: int, output: Path) -> str:
    """What a program says of where it is, if it says anything when it is interrupted."""
    number = _would_answer(process)
    if number is None:
        return ""
    begins = output.stat().st_size
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)
    ends_at = time.monotonic() + _ANSWER_LIMIT_S
    while True:
        goes_on = time.monotonic() < ends_at and os.path.exists(f"/proc/{process}/exe")
        with output.open("rb") as file:
            file.seek(begins)
            said = file.read()
        if place := _place_in(said):
            return place
        if not goes_on:
            return ""
        time.sleep(_POLL_S)


def _would_answer(process: int) -> signal.Signals | None:
    """The signal that a process may answer to by saying where it is."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                caught = int(line.split()[1], 16)
                wanted = (signal.SIGQUIT, signal.SIGINT)
                return next((number for number in wanted if caught >> (number - 1) & 1), None)
    return None


def _place_in(said: bytes) -> str:
    """The place that an answer tells; empty if it is none, or not whole yet."""
    text = said.decode("utf-8", "replace")
    if found := _INTERRUPTED.search(text):
        return os.path.basename(found["ruby"] or found["lua"])
    if _PYTHON in text:
        report = crash_report(said)
        return report.signature.partition(" at ")[2] if report and report.signature.startswith(_PYTHON) else ""
    return java_dump_place(text)

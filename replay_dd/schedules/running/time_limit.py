"""Where the threads of a program are when its time is up.

Rules of this module:

* It is called just before the program is killed. It asks the interpreter for the stacks of its threads
  (``runtime/process/stacks.py``), and the system for what each does in C (``runtime/process/native_threads.py``).
* Only one thread has the baton. All others stand in the runtime and wait for it, so they explain nothing, and the
  system is asked about a few of them at most: to ask about a thousand would take longer than most time limits.
* What cannot be found out is left out; the answer is never a guess about the program.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path
from typing import NamedTuple

import replay_dd.schedules.runtime as runtime
from replay_dd.schedules.runtime import channel
from replay_dd.schedules.runtime.points.bytecode import ACCESS, SYNC
from replay_dd.schedules.runtime.process.native_threads import NativeThread, threads_of
from replay_dd.schedules.runtime.process.stacks import ASKED, SIGNAL, TOLD, TRACED

STACKS = "stacks"  # the name of the file in the folder of a run

_MAY_SPIN = {
    SYNC: "at granularity sync, a loop that waits for another thread without a lock or a sleep never ends; "
    "at any other it does",
    ACCESS: "at granularity access, a loop that touches nothing but local variables keeps all other threads waiting; "
    "at granularity gil it does not",
}
UNCONTROLLED_CALL = "which replay-dd does not control there"  # what notes of such calls end with
_RUNTIME = str(Path(runtime.__file__).parent) + os.sep
_WAITS_FOR_BATON = "wait_for_baton"
_LOOKS = 5  # a loop that polls in C mostly sleeps: it is hardly ever found running
_PAUSE_S = 0.02
_ANSWER_LIMIT_S = 3.0
_IDLE_S = 1.0  # a process that does nothing for half of this will not answer
_MOST_LOAD = 20  # how many times as slow a busy machine may be
_ASKING_LIMIT_S = 1.0
_TELLING_LIMIT_S = 4.0  # the runtime comes by every 0.25 s, or every 5,000 yield points
_TRACING_LIMIT_S = 0.3
_SHOWN = 3
_THREAD = re.compile(r"^(?:Current thread|Thread) 0x([0-9a-f]+)", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)


class ThreadAtLimit(NamedTuple):
    """Where one thread is.

    Attributes:
        identity: what Python calls it, an address in its stack.
        frames: (file, line, function), the innermost first.
        native: the same thread as the system knows it; None if it was not found.
    """

    identity: int
    frames: tuple[tuple[str, int, str], ...]
    native: NativeThread | None = None

    @property
    def has_baton(self) -> bool:
        """Whether it is the one that runs; the others wait in the runtime."""
        return not any(function == _WAITS_FOR_BATON for _, _, function in self._runtime_frames)

    @property
    def waits_in_runtime(self) -> bool:
        """Whether it has the baton, and waits for something outside as no thread can run."""
        return self.has_baton and bool(self._runtime_frames)

    @property
    def _runtime_frames(self) -> list[tuple[str, int, str]]:
        found = []
        for frame in self.frames:
            if not frame[0].startswith(_RUNTIME):
                break
            found.append(frame)
        return found

    def where(self, directory: str) -> str:
        """The innermost place outside the standard library, else the innermost of all, in words."""
        own = [frame for frame in self.frames if not frame[0].startswith(_RUNTIME)]
        user = [frame for frame in own if not _is_library(frame[0])]
        frame = next(iter(user or own), None)
        if frame is None:
            return ""
        library = f", in a call of {self.native.waits_in}" if self.native is not None and self.native.waits_in else ""
        return f" at {_short(frame[0], directory)}:{frame[1]} in {frame[2]}{library}"


def threads_at_limit(folder: Path, process: int | None = None) -> list[ThreadAtLimit]:
    """Where the threads of a program are now.

    Args:
        folder: the private folder of its run.
        process: its process id; None to take the one that it told.
    """
    told = folder / channel.FILE
    if process is None:
        records = channel.read_records(str(told)) if told.exists() else []
        process = next((int(str(record[-1])) for record in records if record[0] == channel.HELLO), None)
    if process is None:
        return []
    if _goes_on(folder / STACKS, process):
        return []
    stacks = _stacks(folder / STACKS, process)
    _wait_for_answer(folder / STACKS, process)
    threads = parse_stacks(stacks or _text(folder / STACKS))
    others = [thread for thread in threads if not thread.has_baton and thread.where("")]
    asked = {one.identity for one in (*(thread for thread in threads if thread.has_baton), *others[:_SHOWN])}
    for look in range(_LOOKS):
        found = threads_of(process, only=asked)
        threads = [_with_native(thread, threads, found, process) for thread in threads]
        if all(thread.native is not None and thread.native.call for thread in threads if thread.has_baton):
            break
        time.sleep(_PAUSE_S if look < _LOOKS - 1 else 0)
    return threads


def parse_stacks(text: str) -> list[ThreadAtLimit]:
    """The threads in what ``faulthandler`` writes."""
    starts = list(_THREAD.finditer(text))
    ends = [*(start.start() for start in starts), len(text)][1:]
    return [
        ThreadAtLimit(
            int(start[1], 16),
            tuple((file, int(line), function) for file, line, function in _FRAME.findall(text[start.start() : end])),
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def note_at_limit(threads: list[ThreadAtLimit], granularity: str, directory: str) -> str:
    """What a log notes of a run that was killed at its time limit.

    Args:
        threads: where they were.
        granularity: of the yield points.
        directory: the working directory.
    """
    running = [thread for thread in threads if thread.has_baton and thread.frames]
    waiting = next((thread for thread in running if thread.waits_in_runtime), None)
    if waiting is not None:
        places = [f"{_name(thread, threads)}{thread.where(directory)}" for thread in threads if thread.where(directory)]
        more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
        return f"at the time limit, all threads waited: {', '.join(places[:_SHOWN])}{more}"
    if not running:
        return _MAY_SPIN.get(granularity, "")
    thread = running[0]
    native = thread.native
    head = f"at the time limit, {_name(thread, threads)}"
    if native is not None and native.call:
        where = thread.where(directory)
        return f"{head} was{where}, waiting in the system ({native.call}), {UNCONTROLLED_CALL}"
    spins = _MAY_SPIN.get(granularity, "")
    where = f"{head} was running{thread.where(directory)}, perhaps in a long call in C"
    return where + (f"; {spins}" if spins else "")


def is_guess(note: str) -> bool:
    """Whether such a note only says what may have happened."""
    return note in _MAY_SPIN.values()


def _goes_on(path: Path, process: int) -> bool:
    """Ask the runtime; whether it tells what it knows, and passes yield points all the time.

    Where threads change quickly, ``faulthandler`` may crash the program: it reads the frames of running threads.
    """
    try:
        with path.open("ab") as file:
            file.write(ASKED)
    except OSError:
        return False
    chance = Chance(process)
    while not chance.was_there(_ASKING_LIMIT_S):
        if TRACED.decode() in _text(path):
            return True
        time.sleep(_PAUSE_S)
    return False


def _stacks(path: Path, process: int) -> str:
    """What the interpreter answers; empty if it does not."""
    with contextlib.suppress(OSError):
        os.kill(process, SIGNAL)
        chance = Chance(process)
        text, same = "", 0
        while same < _LOOKS and not chance.was_there(_ANSWER_LIMIT_S):  # it is written bit by bit
            before, text = text, path.read_text(encoding="utf-8", errors="replace")
            same = same + 1 if text == before and _THREAD.search(text) else 0
            time.sleep(_PAUSE_S)
        return text
    return ""


def _text(path: Path) -> str:
    """What is in a file now; empty if there is none."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _wait_for_answer(path: Path, process: int) -> None:
    """Give the runtime the time to tell what it knows; where the program is busy in C, it cannot."""
    chance, since_told = Chance(process), None
    while not chance.was_there(_TELLING_LIMIT_S) and not (since_told and since_told.was_there(_TRACING_LIMIT_S)):
        try:
            text = path.read_bytes()
        except OSError:
            return
        if TRACED in text:
            return
        if TOLD in text and since_told is None:
            since_told = Chance(process)
        time.sleep(_PAUSE_S)


class Chance:
    """Whether a process has had the time to do something, however busy the machine is.

    Args:
        process: its number.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._start_s = self._alive_s = time.monotonic()
        self._seen_s = -1.0
        self._used_s = self._seen_s = self._used()[0]

    def was_there(self, limit_s: float) -> bool:
        """Whether it had so many seconds: of a processor, or of time in which none of its threads wanted one."""
        now_s = time.monotonic()
        used_s, wants = self._used()
        if wants or used_s > self._seen_s:  # between two of its threads, it may look asleep
            self._alive_s, self._seen_s = now_s, used_s
        if now_s - self._start_s < min(limit_s, _IDLE_S):
            return False
        idle = now_s - self._alive_s >= min(limit_s, _IDLE_S) / 2
        return idle or used_s - self._used_s >= limit_s / 2 or now_s - self._start_s >= limit_s * _MOST_LOAD

    def _used(self) -> tuple[float, bool]:
        """Processor time of the process, and whether one of its threads runs or waits for a processor."""
        used, wants = self._seen_s, False
        with contextlib.suppress(OSError, IndexError, ValueError):
            process = Path(f"/proc/{self._process}")
            fields = _fields(process)
            used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # proc(5)
            # Only where it seems to do nothing: it may have a thousand threads.
            wants = used == self._seen_s and any(_fields(task)[0] == "R" for task in (process / "task").iterdir())
        return used, wants


def _fields(folder: Path) -> list[str]:
    """What the system tells of a process or a thread, from its state on."""
    return (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _with_native(
    thread: ThreadAtLimit, threads: list[ThreadAtLimit], found: list[NativeThread], process: int
) -> ThreadAtLimit:
    """With the thread of the system whose stack this is; the main thread's identity lies elsewhere."""
    native = next((one for one in found if one.stack[0] <= thread.identity < one.stack[1]), None)
    if native is None and _is_main(thread, threads):
        native = next((one for one in found if one.number == process), None)
    return thread if native is None else thread._replace(native=native)


def _is_main(thread: ThreadAtLimit, threads: list[ThreadAtLimit]) -> bool:
    return bool(threads) and thread.identity == threads[-1].identity  # the oldest is written last


def _name(thread: ThreadAtLimit, threads: list[ThreadAtLimit]) -> str:
    return "the main thread" if _is_main(thread, threads) else "another thread"


def _is_library(path: str) -> bool:
    standard = os.path.dirname(os.__file__) + os.sep
    return path.startswith("<") or ("-packages" not in path and ("/lib/python3" in path or path.startswith(standard)))


def _short(path: str, directory: str) -> str:
    for marker in ("/site-packages/", "/dist-packages/", directory.rstrip(os.sep) + os.sep):
        _, found, inside = path.partition(marker)
        if found:
            return inside
    return path

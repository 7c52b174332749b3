"""What the processes of a program do just now, out of /proc (Linux).

Rules of this module:

* Once a process was seen as a child of the program it stays one of its processes, also when its parent ends.
* Looking for new processes is cheap: the system's newest process number tells whether there are any.
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Collection, Sequence
from pathlib import Path

# Numbers of system calls in which a thread waits for whatever comes next: poll, select, epoll, futex.
# Linux: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
_POLL_LIKE = {
    "x86_64": {"7", "23", "202", "219", "232", "270", "271", "281", "441", "449", "455"},
    "aarch64": {"22", "72", "73", "98", "128", "441", "449", "455"},
}
# Those of them that are told how many files to wait for: which argument says that, and which one for how long. With no
# file, they only sleep: Tcl does so for `after 100`, which Tk's themed buttons use when a key presses them.
_COUNTED = {
    "x86_64": {"7": (1, 2), "23": (0, 4), "270": (0, 4), "271": (1, 2)},
    "aarch64": {"72": (0, 4), "73": (1, 2)},
}
_WAIT_FOR_CHILD = {"x86_64": {"61", "247"}, "aarch64": {"260", "95"}}
_NEGATIVE = 1 << 31  # of a number of 32 bits
_FUTEX = {"x86_64": "202", "aarch64": "98"}
_READ = {"x86_64": "0", "aarch64": "63"}
_TERMINALS = ("/dev/pts/", "/dev/tty")
_MACHINE = platform.machine()

Look = tuple[tuple[int, bytes], ...]
"""For each thread its number, and how often and how long it has run."""


class ProcessTree:
    """A process with its descendants.

    Args:
        process: the process at the top.
        waits_for_anything: whether only threads in a poll-like call count as idle; otherwise any sleeping one does.

    Attributes:
        reads_terminal: whether a thread read from a terminal at the last look: a program in a terminal's window. What
            is typed reaches it later than the terminal sleeps again, as the system passes it on in between.
    """

    def __init__(self, process: int, *, waits_for_anything: bool = True) -> None:
        self._strict = waits_for_anything and _MACHINE in _POLL_LIKE
        self._members: dict[int, None] = {process: None}
        self._newest = process - 1
        self._excused: dict[int, bytes] = {}
        self.reads_terminal = False
        self.top = process

    def adopt(self, process: int) -> None:
        """Another process belongs to the program, although its parent is not (any more) one of it."""
        self._members[process] = None

    def excuse_sleepers(self) -> None:
        """Take threads that sleep now for idle, for as long as they do not run: helpers that wait for hours.

        Never the first thread of the program itself: it should answer.
        """
        program = self._program()
        for process in list(self._members):
            with contextlib.suppress(OSError):
                for thread in os.listdir(f"/proc/{process}/task"):
                    folder = f"/proc/{process}/task/{thread}"
                    if int(thread) != program and not _read(f"{folder}/syscall").startswith(b"running"):
                        self._excused[int(thread)] = _read(f"{folder}/schedstat")

    def _program(self) -> int:
        """The process at the top, or the only child of a shell there that waits for it."""
        process = self.top
        members = self.members()
        while True:
            children = [member for member in members if parent_of(member) == process]
            call = _read(f"/proc/{process}/syscall").split(None, 1)[:1] if _is_alive(process) else []
            if len(children) != 1 or not call or call[0].decode() not in _WAIT_FOR_CHILD.get(_MACHINE, ()):
                return process
            process = children[0]

    def top_has_ended(self) -> bool:
        """Whether the process at the top has ended, even if nobody has asked yet how."""
        return not _is_alive(self.top)

    def members(self) -> list[int]:
        """The processes that are there now."""
        self._look_for_children()
        for process in list(self._members):
            if not _is_alive(process):
                del self._members[process]
        return list(self._members)

    def look(self) -> Look | None:
        """How far all threads are; None where one is not idle."""
        self._look_for_children()
        seen: list[tuple[int, bytes]] = []
        members = list(self._members)
        self.reads_terminal = False
        for process in members:
            try:
                threads = os.listdir(f"/proc/{process}/task")
            except OSError:
                del self._members[process]
                continue
            for thread in threads:
                folder = f"/proc/{process}/task/{thread}"
                try:
                    call = _read(f"{folder}/syscall").split()
                    progress = _read(f"{folder}/schedstat")
                except OSError:
                    if _is_alive(process):
                        return None  # it is changing just now
                    continue
                excused = self._excused.get(int(thread)) == progress
                if not excused and not self._is_idle(call, len(members) > 1):
                    if self._strict and _reads_terminal(process, call):
                        self.reads_terminal = True
                    elif not _is_alive(process):
                        continue
                    else:
                        return None
                seen.append((int(thread), progress))
        return tuple(seen)

    def starved_s(self) -> float:
        """For how long its threads have waited for a processor so far, taken together."""
        waited_ns = 0
        for process in list(self._members):
            with contextlib.suppress(OSError, IndexError):
                for thread in os.listdir(f"/proc/{process}/task"):
                    # time on a processor, time waiting for one, and how often it got one (proc(5))
                    waited_ns += int(_read(f"/proc/{process}/task/{thread}/schedstat").split()[1])
        return waited_ns / 1e9

    def is_stuck(self) -> bool:
        """Whether all threads wait for locks, without a time, so that none can take an event.

        A shell around the program, which waits for its child, does not count.
        """
        waiting = 0
        for process in self.members():
            try:
                for thread in os.listdir(f"/proc/{process}/task"):
                    call = _read(f"/proc/{process}/task/{thread}/syscall").split()
                    if call and call[0].decode() in _WAIT_FOR_CHILD.get(_MACHINE, ()):
                        continue
                    if not _is_lock(call):
                        return False
                    waiting += 1
            except OSError:
                return False
        return waiting > 0

    def locked(self, threads: Collection[int]) -> dict[int, bytes]:
        """Those threads that wait for locks, without a time, and how often and how long each has run."""
        found = {}
        for process in self.members():
            with contextlib.suppress(OSError):
                for thread in set(threads) & set(map(int, os.listdir(f"/proc/{process}/task"))):
                    with contextlib.suppress(OSError):  # it has just ended
                        progress = _read(f"/proc/{process}/task/{thread}/schedstat")
                        if _is_lock(_read(f"/proc/{process}/task/{thread}/syscall").split()):
                            found[thread] = progress
        return found

    def _is_idle(self, call: Sequence[bytes], has_others: bool) -> bool:
        number = call[0].decode() if call else "running"
        if number == "running":
            return False
        if not self._strict:
            return True
        # A shell around the program waits for it: what counts is what the program does.
        if has_others and number in _WAIT_FOR_CHILD[_MACHINE]:
            return True
        return number in _POLL_LIKE[_MACHINE] and not _only_sleeps(call)

    def _look_for_children(self) -> None:
        newest = int(_read("/proc/loadavg").rsplit(None, 1)[1])
        if newest == self._newest:
            return
        if newest < self._newest:
            candidates = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
        else:
            candidates = list(range(self._newest + 1, newest + 1))
        self._newest = newest
        for process in candidates:
            if process not in self._members and parent_of(process) in self._members and _is_process(process):
                self._members[process] = None


def _only_sleeps(call: Sequence[bytes]) -> bool:
    """Whether a system call, as /proc tells it, waits for a time and for nothing else."""
    files, time_limit = _COUNTED.get(_MACHINE, {}).get(call[0].decode(), (None, 0))
    if files is None or len(call) < time_limit + 2 or int(call[files + 1], 16):
        return False
    limit = int(call[time_limit + 1], 16)
    # No time, or one below zero, is for ever: until a signal comes.
    return limit > 0 and not (call[0] == b"7" and limit & _NEGATIVE)


def _is_lock(call: Sequence[bytes]) -> bool:
    """Whether a system call, as /proc tells it, waits for a lock without a time."""
    # After the call's number come its arguments; the fourth one of futex(2) is the time.
    return len(call) >= 5 and call[0].decode() == _FUTEX.get(_MACHINE) and int(call[4], 16) == 0


def _reads_terminal(process: int, call: Sequence[bytes]) -> bool:
    """Whether a system call, as /proc tells it, waits for what is typed in a terminal."""
    if len(call) < 2 or call[0].decode() != _READ.get(_MACHINE):
        return False
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{process}/fd/{int(call[1], 16)}").startswith(_TERMINALS)
    return False


def _is_process(number: int) -> bool:
    """Whether a number is that of a process: threads can be looked up in /proc, too, though it does not list them."""
    with contextlib.suppress(OSError):
        return f"\nTgid:\t{number}\n".encode() in _read(f"/proc/{number}/status")
    return False


def parent_of(process: int) -> int:
    """The parent of a process; 0 where there is none or the process has ended."""
    try:
        return int(_read(f"/proc/{process}/stat").rsplit(b")", 1)[1].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def with_variable(assignment: str) -> list[int]:
    """The processes that were started with ``NAME=value`` in their environment (of those we may look at)."""
    wanted = os.fsencode(assignment) + b"\0"
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                data = Path(f"/proc/{name}/environ").read_bytes()
                if data.startswith(wanted) or b"\0" + wanted in data:
                    found.append(int(name))
    return found


def _is_alive(process: int) -> bool:
    try:
        return _read(f"/proc/{process}/stat").rsplit(b")", 1)[1].split()[0] not in (b"Z", b"X")
    except (OSError, IndexError):
        return False


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)

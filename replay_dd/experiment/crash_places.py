"""Catches the moment in which a program is killed by a signal, to see where it was.

Rules of this module:

* The program is traced with ptrace(2), which needs no file for a core and no setting of the system. It runs at full
  speed: tracing is noticed only when a signal arrives.
* Where tracing is not allowed, or the machine is another than x86-64 or aarch64 (Linux), the signal alone is known.
* All calls for one program must come from the same thread: the one that has started it, if it is watched until its end.
* Addresses are told as module and offset, which are the same in each run.
* Who called whom is certain where the code has call frame information. Return addresses that are only found on the
  stack may be stale.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, replace

from replay_dd.experiment.memory_maps import Modules, code_at, modules_of, named
from replay_dd.experiment.unwinding import MACHINES, calls_of

_GETEVENTMSG, _GETSIGINFO = 0x4201, 0x4202
_SEIZE, _CONT, _GETREGSET, _SETREGSET = 0x4206, 7, 0x4204, 0x4205
_DETACH, _LISTEN, _INTERRUPT = 17, 0x4208, 0x4207
_OPTION_FORK, _OPTION_VFORK, _OPTION_CLONE, _OPTION_EXITKILL = 0x2, 0x4, 0x8, 0x100000
_EVENTS_OF_BIRTH = {1, 2, 3}  # fork, vfork, clone
_NT_PRSTATUS = 1
_LEAST_REGISTER_BYTES = 27 * 8  # what the system tells of a program of 64 bits
_EVENT_STOP = 128
_SENT = 0  # SI_USER; the others are less
_WALL = 0x40000000
_STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
_MISTAKES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
# What a program does not mean to be killed by, and what it kills itself by where it cannot go on.
DEADLY = _MISTAKES | {signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS}
# The C library is where a program that is wrong often dies: the caller says more.
C_LIBRARY = re.compile(r"^(?:(?:libc|libpthread|libstdc\+\+|libgcc_s)[.-]|ld-linux|linux-vdso|\[vdso\])")
_GDB_FRAME = re.compile(r"^(?P<number>#\d+\s+)(?P<address>0x[0-9a-f]+) in (?P<function>.+)$")
_STACK_BYTES = 4096
_NEAR_THE_TOP = 1 << 20  # bytes
_MOST_FRAMES = 6
_END_LIMIT_S = 5.0
_STOP_LIMIT_S = 1.0
_POLL_S = 0.001


@dataclass(frozen=True)
class Crash:
    """Where a program was when a deadly signal came.

    Attributes:
        signal: its number.
        frames: where it was, innermost first, as ``module+0xoffset``; those after the first are return addresses found
            on the stack, so that a stale one may be among them.
        backtrace: what gdb says, where that was wanted and gdb is there.
        caller: what the top of the stack names: where a function without a frame of its own was called.
        overflows: whether it touched memory just beyond the top of the stack.
        code: the file that holds the code of the sure place outside of the C library, and the offset in it; None if
            there is none.
        calls: where it surely was, innermost first: files, and offsets in them of the instructions that made the calls.
    """

    signal: int
    frames: tuple[str, ...]
    backtrace: tuple[str, ...] = ()
    caller: str = ""
    overflows: bool = False
    code: tuple[str, int] | None = None
    calls: tuple[tuple[str, int], ...] = ()

    @property
    def place(self) -> str:
        """The innermost place outside of the C library; the innermost one where there is none."""
        outside = (frame for frame in self.frames if not C_LIBRARY.match(frame))
        return next(outside, self.frames[0] if self.frames else "")

    @property
    def sure_place(self) -> str:
        """The innermost place, and the caller if that is in the C library; never a stale address.

        Where the stack overflows depends on how deep the input is, so that is no place.
        """
        if self.overflows:
            return "a stack overflow"
        inner = self.frames[0] if self.frames else ""
        if "+" not in inner:  # it went on at an address that holds no code
            return f"what {self.caller} calls" if self.caller else ""
        return f"{inner}, from {self.caller}" if self.caller and C_LIBRARY.match(inner) else inner


class Tracer:
    """Watches a child of this thread.

    Args:
        process: the child; it has just been started.
        want_backtrace: ask gdb about a crash (takes about a second).
        descendants: watch all that it starts, too.

    Attributes:
        crash: the first crash of the child; with its descendants, the last one of all.
        status: how it ended, as the system tells it; None if it has not.
        is_busy: whether anything has happened at the last look.
    """

    def __init__(self, process: int, *, want_backtrace: bool = False, descendants: bool = False) -> None:
        self.process = process
        self.crash: Crash | None = None
        self.status: int | None = None
        self.is_busy = False
        self._want_backtrace = want_backtrace
        self._follows = descendants
        self._others: set[int] = set()
        self._mistaken: set[int] = set()  # threads
        options = _OPTION_CLONE | _OPTION_EXITKILL | (_OPTION_FORK | _OPTION_VFORK if descendants else 0)
        self.traces = platform.machine() in MACHINES and self._ptrace(_SEIZE, process, 0, options)

    def poll(self) -> int | None:
        """Let the program go on where a signal stopped it; its wait status when it has ended, else None."""
        self.is_busy = False
        if self.status is None:
            self._poll()
        return self.status

    def end(self) -> None:
        """Kill what the program has started and left behind, if that is watched."""
        ends_at = time.monotonic() + _END_LIMIT_S
        while self._others and time.monotonic() < ends_at:
            for other in self._others:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(other, signal.SIGKILL)
            self._poll()
            time.sleep(_POLL_S)

    def _poll(self) -> None:
        for thread in self._threads():
            while True:
                try:
                    found, status = os.waitpid(thread, os.WNOHANG | _WALL)
                except ChildProcessError:
                    if thread == self.process and self.status is None:
                        self.status = 0  # somebody else has taken its status
                    self._others.discard(thread)
                    break
                if found == 0:
                    break
                self.is_busy = True
                if os.WIFSTOPPED(status):
                    self._go_on(thread, status)
                    continue
                if thread == self.process:
                    self.status = status
                self._others.discard(thread)
                break

    def _threads(self) -> list[int]:
        """What is traced; of each process its first thread last, whose end is told when all others have been taken."""
        if not self.traces:
            return [self.process]
        found: list[int] = []
        for process in (*self._others, *([self.process] if self.status is None else [])):
            with contextlib.suppress(OSError):
                found += [int(name) for name in os.listdir(f"/proc/{process}/task") if name != str(process)]
            found.append(process)
        return found

    def _note_birth(self, thread: int) -> None:
        born = ctypes.c_ulong()
        if self._ptrace(_GETEVENTMSG, thread, 0, ctypes.addressof(born)):
            with contextlib.suppress(OSError), open(f"/proc/{born.value}/status") as file:
                if f"\nTgid:\t{born.value}\n" in file.read():
                    self._others.add(born.value)

    def _go_on(self, thread: int, status: int) -> None:
        number = os.WSTOPSIG(status)
        event = status >> 16
        if event == _EVENT_STOP and number in _STOPPING:
            self._ptrace(_LISTEN, thread, 0, 0)
            return
        if event:
            if self._follows and event in _EVENTS_OF_BIRTH:
                self._note_birth(thread)
            self._ptrace(_CONT, thread, 0, 0)
            return
        if number in DEADLY and self._is_deadly(thread, number):
            if self._ended_for(thread, number):
                return
            if self.crash is None or self._follows:
                self.crash = self._crash(thread, number)
                if self._want_backtrace and (gdb := shutil.which("gdb")):
                    self._ask_gdb(gdb, thread, number)
                    return
        elif number in _MISTAKES:
            self._mistaken.add(thread)
        self._ptrace(_CONT, thread, 0, number)

    def _ended_for(self, thread: int, number: int) -> bool:
        """Whether something else has been done to end a thread that a deadly signal has stopped."""
        return False

    def _let_exit(self, thread: int) -> bool:
        """Let the process of a thread that has stopped end with status 0; whether that is possible."""
        registers = self._registers(thread)
        if registers is None:
            return False
        machine = MACHINES[platform.machine()]
        words = list(struct.unpack("=70Q", registers.raw))
        with contextlib.suppress(OSError, IndexError):
            place = modules_of(thread)[0][0]
            with open(f"/proc/{thread}/mem", "r+b", 0) as memory:
                memory.seek(place)
                memory.write(machine.system_call)
            words[machine.counter] = place
            for number, value in machine.to_exit.items():
                words[number] = value
            registers.raw = struct.pack("=70Q", *words)
            vector = (ctypes.c_void_p * 2)(ctypes.addressof(registers), machine.size)
            if self._ptrace(_SETREGSET, thread, _NT_PRSTATUS, ctypes.addressof(vector)):
                return self._ptrace(_CONT, thread, 0, 0)
        return False

    def _is_sent(self, thread: int) -> bool:
        """Whether a process has sent the signal that has stopped a thread, by kill(2) or tgkill(2)."""
        information = ctypes.create_string_buffer(128)
        known = self._ptrace(_GETSIGINFO, thread, 0, ctypes.addressof(information))
        return known and struct.unpack_from("=i", information, 8)[0] <= _SENT

    def _is_deadly(self, thread: int, number: int) -> bool:
        """Whether the program leaves that signal to its default action."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{thread}/status") as file:
                masks = {line.split(":")[0]: int(line.split()[1], 16) for line in file if line[:6] in _MASKS}
            return not (masks["SigCgt"] | masks["SigIgn"]) >> (number - 1) & 1
        return True

    def _ask_gdb(self, gdb: str, thread: int, number: int) -> None:
        """Leave the program stopped to gdb, then end it as the signal would have."""
        assert self.crash is not None
        for other in self._threads():
            if other != thread:
                self._ptrace(_INTERRUPT, other, 0, 0)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(other, _WALL)
            self._ptrace(_DETACH, other, 0, signal.SIGSTOP)
        text, modules = "", modules_of(self.process)
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            orders = ("set width 0", f"thread find {thread}", "bt 24")
            text = subprocess.run(
                [gdb, "--batch", "--nx", "-p", str(self.process), *(f"-ex={order}" for order in orders)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                env={**os.environ, "DEBUGINFOD_URLS": ""},
            ).stdout.decode(errors="replace")
        lines = tuple(_without_address(modules, line) for line in text.splitlines() if re.match(r"^#\d+\s", line))
        self.crash = replace(self.crash, backtrace=lines)
        for deadly in (number, signal.SIGCONT, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process, deadly)

    def _crash(self, thread: int, number: int) -> Crash:
        registers = self._registers(thread)
        if registers is None:
            return Crash(number, ())
        words = struct.unpack("=70Q", registers.raw)
        information = ctypes.create_string_buffer(128)
        overflows = False
        if number == signal.SIGSEGV and self._ptrace(_GETSIGINFO, thread, 0, ctypes.addressof(information)):
            touched: int = struct.unpack_from("=Q", information, 16)[0]
            overflows = abs(touched - words[MACHINES[platform.machine()].stack]) < _NEAR_THE_TOP
        return self._seen(thread, number, words, overflows)

    def _registers(self, thread: int) -> ctypes.Array[ctypes.c_char] | None:
        """The registers of a thread that has stopped, as words; None if they cannot be had."""
        registers = ctypes.create_string_buffer(8 * 70)
        vector = (ctypes.c_void_p * 2)(ctypes.addressof(registers), len(registers))
        known = self._ptrace(_GETREGSET, thread, _NT_PRSTATUS, ctypes.addressof(vector))
        # A program of 32 bits has other registers.
        return registers if known and (vector[1] or 0) >= _LEAST_REGISTER_BYTES else None

    def _seen(self, thread: int, number: int, words: tuple[int, ...], overflows: bool) -> Crash:
        machine = MACHINES[platform.machine()]
        counter, stack = words[machine.counter], words[machine.stack]
        modules = modules_of(thread)
        calls: list[tuple[str, int]] = []
        found, caller = [named(modules, counter)], ""
        code = code_at(modules, counter)
        with contextlib.suppress(OSError), open(f"/proc/{thread}/mem", "rb", 0) as memory:

            def read(address: int, size: int) -> bytes:
                memory.seek(address)
                return memory.read(size)

            calls = calls_of(
                machine,
                words,
                read,
                lambda address: code_at(modules, address),
                is_handling=thread in self._mistaken,
            )
            data = read(stack, _STACK_BYTES)
            top = int.from_bytes(data[:8], sys.byteorder)
            caller = named(modules, top)
            if code is None or C_LIBRARY.match(os.path.basename(code[0])):
                code = code_at(modules, top - 1)  # a call returns to the instruction after it
            for (word,) in struct.iter_unpack("=Q", data[: len(data) // 8 * 8]):
                name = named(modules, word)
                if name and name not in found:
                    found.append(name)
                if len(found) >= _MOST_FRAMES * 4:
                    break
        # What matters is the first place outside of the C library: keep it among the first ones.
        inside = [name for name in found[1:] if C_LIBRARY.match(name)][:2]
        outside = [name for name in found[1:] if not C_LIBRARY.match(name)][: _MOST_FRAMES - 2]
        first = [found[0] or f"{counter:#x}"]
        frames = tuple(first + [name for name in found[1:] if name in inside or name in outside])
        return Crash(number, frames, (), caller, overflows, None if overflows else code, tuple(calls))

    def _ptrace(self, request: int, thread: int, address: int, data: int) -> bool:
        return bool(_libc().ptrace(request, thread, address, data) != -1)


class Sampler(Tracer):
    """Looks where a thread is that another one has started, while it goes on in between; a context manager.

    Args:
        thread: its number.
    """

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stopped():
            self._ptrace(_DETACH, self.process, 0, 0)

    def look(self) -> tuple[tuple[str, int], ...] | None:
        """Where it surely is, innermost first: files, and offsets in them; None if it cannot be looked at."""
        if not self._stopped():
            return None
        calls = self._crash(self.process, 0).calls
        self._ptrace(_CONT, self.process, 0, 0)
        return calls

    def _stopped(self) -> bool:
        """Stop it; whether it stands still now."""
        if not self.traces or not self._ptrace(_INTERRUPT, self.process, 0, 0):
            return False
        ends_at = time.monotonic() + _STOP_LIMIT_S
        with contextlib.suppress(ChildProcessError):
            while time.monotonic() < ends_at:
                found, status = os.waitpid(self.process, os.WNOHANG | _WALL)
                if found and not os.WIFSTOPPED(status):
                    break  # it has ended
                if found and status >> 16 == _EVENT_STOP:
                    return True
                if found:
                    self._go_on(self.process, status)
                time.sleep(_POLL_S)
        self.traces = False
        return False


_MASKS = ("SigCgt", "SigIgn")


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    return libc


def _without_address(modules: Modules, line: str) -> str:
    """A line of gdb's backtrace, with module and offset in the place of an address, or with the function alone."""
    found = _GDB_FRAME.match(line.strip())
    if found is None:
        return line.strip()
    place = named(modules, int(found["address"], 16))
    return found["number"] + (place or line.split()[1] if found["function"].startswith("?? ()") else found["function"])

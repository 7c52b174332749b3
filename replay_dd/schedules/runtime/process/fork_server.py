"""The fork server: a program brought up to its first thread once, then forked for each run.

Rules of this module:

* Up to its first thread a program does the same in every run: no schedule can affect it. So it runs that far once and
  stops there, and each run continues in a forked copy.
* It must not have touched anything that copies would share or miss: a file it wrote, a process, a socket, shared
  memory. If it has, the server says so, and then makes one run itself, up to the program's own end: whatever the
  program did before is for the program to clean up. Another process may stop before that: see stdlib/early_stop.py.
* Whatever descriptor is one of the standard streams that the process was started with is redirected to the stream of
  each copy: pytest keeps them under other numbers. Files without a name, where pytest catches output, are put back: see
  unnamed_files.py. So are sockets at which the program listens: see listeners.py. Files that are only read are opened
  anew in each copy: see read_files.py.
* A copy pays for each page of memory that it writes to and for all code that it is the first to run. So whatever does
  not need the copy is done in this process, just before: it does the same for each run, and so knows the way. The
  copy begins on this processor, whose caches have what it needs. See copies.py for the pages.
* The program knows nothing of the channel to the tool: none of its children gets it, and its handlers of signals do not
  run while the server waits.
"""

from __future__ import annotations

import _socket
import marshal
import os
import stat
import sys
import time

from ..accelerator import processors
from ..channel import MARSHAL_VERSION, READY, REFUSED
from ..observing import flush
from .copies import Copies
from .listeners import Listeners, listens
from .read_files import ReadFiles, is_only_read
from .server_signals import HeldSignals
from .unnamed_files import UnnamedFiles, is_unnamed

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Taken before the program, or the runtime, puts others in their place.
real_waitpid, _write, hard_exit, _sleep = os.waitpid, os.write, os._exit, time.sleep
_getcwd, _chdir, _setsid, _waitid = os.getcwd, os.chdir, os.setsid, os.waitid
_kill, _killpg, _SIGKILL = os.kill, os.killpg, 9
_fstat = os.fstat


_HIGH_DESCRIPTOR = 252  # above those of a run
_DESCRIPTORS = 4  # of a run: its standard streams, and the file in which it tells
ALONE = "alone"  # whether a run is made by this process itself, the message with its request being a tuple

_streams: dict[tuple[int, ...], int] = {}  # inode and device of each standard stream at the start, with its number
_common: dict[int, tuple[int, ...]] = {}  # descriptors of files that all tests of a suite use, with inode and device


def learn_streams() -> None:
    """Note which files the standard streams are, before the program may put others in their place."""
    for number in (2, 1, 0):
        try:
            _streams[_fstat(number)[1:3]] = number
        except OSError:
            continue  # closed


def learn_common_files() -> None:
    """Note the files that a suite has open once it is loaded, as for its log: tests share them in any run of pytest."""
    for number in map(int, open_descriptors()):
        try:
            status = _fstat(number)
        except OSError:
            continue  # the descriptor used for listing
        if stat.S_ISREG(status.st_mode):
            _common[number] = status[1:3]


def _is_common(number: int) -> bool:
    try:
        return number in _common and _common[number] == _fstat(number)[1:3]
    except OSError:
        return False  # closed meanwhile


def keep_aside(descriptor: int) -> int:
    """The descriptor under a number far above what programs use, and not for their children; returns that number."""
    try:
        high = os.dup2(descriptor, _HIGH_DESCRIPTOR, inheritable=False)
    except OSError:  # fewer are allowed here
        os.set_inheritable(descriptor, False)
        return descriptor
    os.close(descriptor)
    return high


def _nothing(request: dict[str, Any]) -> int:
    return -1


def serve(
    descriptor: int, own: set[int], reason: str, prepare: Callable[[dict[str, Any]], int] = _nothing, earlier: int = 0
) -> dict[str, Any]:
    """Serve runs until the tool hangs up; returns only in the processes that make one, with the request of their run.

    These are forked copies, and this process itself if the tool asks for that (:data:`ALONE` in the request).

    Args:
        descriptor: a socket (SOCK_SEQPACKET) to the tool.
        own: descriptors of the runtime.
        reason: why the program cannot be forked here, if it is known already.
        prepare: called before each run, with its request: does what does not need the copy. Returns the descriptor in
            which the run tells.
        earlier: the occasion at which another process could be copied, if this one cannot; 0 for none.
    """
    server = _socket.socket(fileno=descriptor)
    copies = copies_of_streams(own | {descriptor})
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        flush(stream)
    unnamed = UnnamedFiles([int(name) for name in open_descriptors()])
    listeners = Listeners([int(name) for name in open_descriptors()])
    read = ReadFiles([int(name) for name in open_descriptors() if int(name) not in own | {descriptor} | copies.keys()])
    apart = unnamed.numbers | listeners.numbers | read.numbers
    reason = reason or why_not_to_copy(own | {descriptor} | copies.keys() | apart)
    signals = HeldSignals()
    told = (REFUSED, (reason, earlier)) if reason and earlier else (READY, reason)
    server.send(marshal.dumps(told, MARSHAL_VERSION))
    directory, made = Directory(), Copies()
    while True:
        data, ancillary, _, _ = server.recvmsg(65536, _socket.CMSG_SPACE(_DESCRIPTORS * 4))
        if not data:
            break
        descriptors = [
            int.from_bytes(packed[start : start + 4], sys.byteorder)
            for _, _, packed in ancillary
            for start in range(0, len(packed), 4)
        ]
        request = _request_of(descriptors, copies, data)
        tells_in = prepare(request)
        directory.enter()
        processors.stay()
        pid = 0 if request[ALONE] else made.make()
        if pid == 0:
            processors.roam()
            server.close()
            if not request[ALONE]:
                _setsid()
                listeners.watch(own)
                read.open_anew()
            signals.release()
            return request
        try:
            server.send(marshal.dumps(("pid", pid), MARSHAL_VERSION))
        except OSError:  # the tool has hung up meanwhile, so it does not know of this copy
            _kill_copy(pid)
            break
        _, status = real_waitpid(pid, 0)
        made.learn(tells_in)
        processors.roam()
        unnamed.put_back()
        listeners.put_back()
        server.send(marshal.dumps(("status", status), MARSHAL_VERSION))
    hard_exit(0)
    raise AssertionError("unreachable")


def _kill_copy(pid: int) -> None:
    """Kill a copy, and what it may have started by now."""
    for kill in (_killpg, _kill):
        try:
            kill(pid, _SIGKILL)
        except OSError:
            pass  # it has no group of its own yet, or is gone
    real_waitpid(pid, 0)


class Directory:
    """The working directory, which copies find by its name: if it is a temporary one, each gets a new one."""

    def __init__(self) -> None:
        try:
            self._path = _getcwd()
        except OSError:
            self._path = ""  # it was removed

    def enter(self) -> None:
        """Go there."""
        if self._path:
            try:
                _chdir(self._path)
            except OSError:
                pass  # no longer there, or not ours: as the program left it


def hang_up(descriptor: int, reason: str) -> None:
    """Tell the tool that the program ended before it could be forked."""
    try:
        _write(descriptor, marshal.dumps((READY, reason), MARSHAL_VERSION))
    except OSError:
        pass  # it does not listen any more


def _request_of(descriptors: list[int], copies: dict[int, int], data: bytes) -> dict[str, Any]:
    """The request of a run, whose streams this process has from now on; it keeps its own if there are none."""
    *descriptors, told = descriptors or [-1]
    statuses = [_fstat(descriptor) for descriptor in descriptors]
    for number, stream in copies.items() if descriptors else ():
        os.dup2(descriptors[stream], number, os.get_inheritable(number))
    for descriptor in descriptors:
        os.close(descriptor)
    packed = marshal.loads(data)
    alone = isinstance(packed, tuple)
    if alone:
        (packed,) = packed
    if isinstance(packed, str):
        with open(packed, "rb") as file:
            packed = file.read()
    request: dict[str, Any] = marshal.loads(packed)
    request["streams"], request["told"], request[ALONE] = statuses, told, alone
    return request


def copies_of_streams(own: set[int]) -> dict[int, int]:
    """The descriptors of the files that the standard streams were at the start, each with the number of its stream."""
    copies = {}
    for name in open_descriptors():
        number = int(name)
        if number not in own:
            try:
                stream = _streams.get(_fstat(number)[1:3])
            except OSError:
                continue  # the descriptor used for listing
            if stream is not None:
                copies[number] = stream
    return copies


def open_descriptors() -> list[str]:
    """The numbers of all open descriptors; none if the system does not tell."""
    try:
        return os.listdir("/proc/self/fd")
    except OSError:
        return []


def why_not_to_copy(own: set[int]) -> str:
    """Why copies of this process would disturb each other, or nothing.

    Args:
        own: descriptors that do not count.
    """
    return _shared_descriptors(own) or _other_threads() or _shared_memory() or _child_processes()


def why_not_to_stop(own: set[int]) -> str:
    """Why copies of this process would disturb each other if it stopped now, or nothing.

    Args:
        own: descriptors of the runtime.
    """
    apart = own | copies_of_streams(own).keys()
    for name in open_descriptors():
        number = int(name)
        if number not in apart and (is_unnamed(number) or listens(number) or is_only_read(number)):
            apart.add(number)
    return why_not_to_copy(apart)


def what_copies_share(own: set[int]) -> str:
    """The same, but for threads that copies would not have."""
    return _shared_descriptors(own) or _shared_memory() or _child_processes()


def has_children() -> bool:
    """Whether there are processes that this one has started and not waited for."""
    try:
        _waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _child_processes() -> str:
    """Whether there are processes that copies of this process could not wait for, as they are not theirs."""
    return "a process that it started before its first thread has not been waited for" if has_children() else ""


def _shared_descriptors(own: set[int]) -> str:
    """Why copies of this process would disturb each other through an open descriptor, or nothing."""
    known = own | {0, 1, 2}
    names = open_descriptors()
    if not names:
        return "this system does not list open files"
    for name in names:
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # the descriptor used for listing
        if int(name) not in known and target != os.devnull and not _is_own_code(target) and not _is_common(int(name)):
            return f"it has {target} open before its first thread"
    return ""


def _other_threads() -> str:
    """Whether threads run that copies of this process would miss."""
    if len(os.listdir("/proc/self/task")) > 1 and not _all_stop_for_forks():
        return "a thread is running that replay-dd did not start"
    return ""


def _all_stop_for_forks() -> bool:
    from .native_threads import all_stop_for_forks  # only now: few programs need it

    return all_stop_for_forks(_sleep)


def _is_own_code(target: str) -> bool:
    """Whether a library keeps code open, never to read: it maps the file again where a callback needs code.

    libffi keeps itself open, or a file in memory to which it has written that code (``tramp.c``).
    """
    return os.path.basename(target).startswith("libffi.so") or target == "/memfd:libffi (deleted)"


def _shared_memory() -> str:
    """Why copies of this process would disturb each other through memory: a semaphore of processes, a mapped file."""
    with open("/proc/self/maps", "rb") as file:
        for line in file:
            # addresses, rights, offset, device, inode, perhaps a path (proc(5))
            rights, *_, path = os.fsdecode(line.rstrip()).split(maxsplit=5)[1:]
            if rights[1] == "w" and rights[3] == "s":
                return f"it shares memory with other processes ({path}) before its first thread"
    return ""

"""What threads of a process do that Python cannot tell: those that a library started, and calls into libraries.

All of it is read from /proc (proc(5)), by the process itself or by its parent; nothing is stopped or changed.

Rules of this module:

* A thread that waits is in the system, called by the C library, called by the library in question. So the stack is read
  for addresses of code. There is no unwinding: a word that looks like a return address is taken for one. What is found
  serves to name a library, not to reconstruct calls.
* Where /proc does not tell something, it is left out.
"""

from __future__ import annotations

import os
import sys

from ..stdlib.process_number import real_getpid

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Mapping = tuple[int, int, bool, str]  # start, end, whether it is code, file

# Not the ones that decide to wait: others call them.
_SYSTEM = (
    "libc.",
    "libc-",
    "libpthread",
    "ld-linux",
    "ld-musl",
    "libstdc++",
    "libgcc_s",
    "libm.",
    "librt.",
    "libdl.",
    "libffi",
    "_accelerator.",  # of replay-dd; what it left on the stack is there still
)
# Their threads only compute, on behalf of the thread that called, which waits for them.
_COMPUTING = ("openblas", "libgomp", "libomp", "libiomp", "libmkl", "libtbb", "libblis")
# Their threads end before a fork and begin again when they are needed, by handlers that the library registers
# (pthread_atfork: `memory.c` and `blas_server.c` of OpenBLAS).
_STOPPED_FOR_FORKS = ("openblas",)
_PACKAGES = ("/site-packages/", "/dist-packages/")
_STACK_BYTES = 1 << 16  # that are read of a stack
_WORD = 8
_PAGE = 4096
_PAUSES_S = tuple(0.001 * 2**number for number in range(8))  # a thread may wait this long for a busy processor
_CALLS = {
    # the numbers of x86-64 and of arm64
    "x86_64": {
        0: "read",
        7: "poll",
        23: "select",
        34: "pause",
        35: "nanosleep",
        42: "connect",
        43: "accept",
        45: "recvfrom",
        47: "recvmsg",
        61: "wait4",
        72: "fcntl",
        73: "flock",
        202: "futex",
        219: "poll",
        230: "clock_nanosleep",
        232: "epoll_wait",
        247: "waitid",
        270: "pselect6",
        271: "ppoll",
        281: "epoll_pwait",
        288: "accept4",
        1: "write",
        74: "fsync",
        128: "rt_sigtimedwait",
        257: "openat",
        426: "io_uring_enter",
        441: "epoll_pwait2",
    },
    "aarch64": {
        22: "epoll_pwait",
        25: "fcntl",
        32: "flock",
        56: "openat",
        63: "read",
        64: "write",
        72: "pselect6",
        73: "ppoll",
        82: "fsync",
        95: "waitid",
        98: "futex",
        101: "nanosleep",
        115: "clock_nanosleep",
        202: "accept",
        203: "connect",
        207: "recvfrom",
        212: "recvmsg",
        242: "accept4",
        260: "wait4",
        426: "io_uring_enter",
        441: "epoll_pwait2",
    },
}


class NativeThread:
    """A thread as the system knows it.

    Attributes:
        number: its id in the system.
        state: ``R`` if it runs, ``S`` if it waits; other letters as in proc(5); empty if unknown.
        call: the system call in which it waits; empty if it runs or this is unknown.
        waits_in: the library that called that, as :func:`library_name` names it; empty if unknown or Python itself.
        belongs_to: the library that started it, named in the same way; empty if unknown.
        stack: the part of memory from where its stack ends now to where it began, or the mapping in which it lies.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.state = self.call = self.waits_in = self.belongs_to = ""
        self.stack = (0, 0)


def all_stop_for_forks(pause: Callable[[float], object]) -> bool:
    """Whether all threads of this process but the first are of libraries that stop them before a fork.

    Args:
        pause: waits so many seconds.
    """
    others = [thread for thread in threads_of("self", pause) if thread.number != real_getpid()]
    return bool(others) and all(any(name in thread.belongs_to for name in _STOPPED_FOR_FORKS) for thread in others)


def threads_of(
    process: int | str, pause: Callable[[float], object] | None = None, only: set[int] | None = None
) -> list[NativeThread]:
    """All threads of a process (its id, or ``self``); none if it cannot be looked at.

    Args:
        process: which.
        pause: waits so many seconds; where it is given, threads that run are looked at again a few times, as only of
            one that waits anything is known.
        only: of others than its first one, and those with one of these addresses in their stacks, little is told, as
            that takes its time.
    """
    try:
        numbers = sorted(int(name) for name in os.listdir(f"/proc/{process}/task"))
        mappings = list(_mappings(f"/proc/{process}/maps"))
        memory = os.open(f"/proc/{process}/mem", os.O_RDONLY)
    except OSError:
        return []
    try:
        asked = set(numbers) if only is None else {process, *_nearest(process, numbers, only)}
        found = [_look(process, number, mappings, memory, in_full=number in asked) for number in numbers]
        for pause_s in () if pause is None else _PAUSES_S:
            running = [index for index, thread in enumerate(found) if not thread.call]
            if not running or pause is None:
                break
            pause(pause_s)
            for index in running:
                found[index] = _look(process, numbers[index], mappings, memory)
        return found
    finally:
        os.close(memory)


def uncontrolled_libraries(known: set[int], pause: Callable[[float], object]) -> list[str]:
    """The libraries with threads of their own in this process, but for those that only compute.

    Args:
        known: what Python calls the threads that it started: addresses in their stacks.
        pause: waits so many seconds.
    """
    main = real_getpid()
    others = [one for one in threads_of("self", pause) if one.number != main and not _has_one_of(one, known)]
    found = {thread.belongs_to for thread in others}
    return sorted(name for name in found if name and not any(word in name for word in _COMPUTING))


def _has_one_of(thread: NativeThread, identities: set[int]) -> bool:
    return any(thread.stack[0] <= identity < thread.stack[1] for identity in identities)


def library_name(path: str) -> str:
    """How a library is called: ``PACKAGE (FILE)`` if it came with a package of Python, else its file's name."""
    file = os.path.basename(path)
    for marker in _PACKAGES:
        _, found, inside = path.rpartition(marker)
        if found:
            package = inside.partition("/")[0].partition(".")[0]
            return f"{package} ({file})"
    return file


def _nearest(process: int | str, numbers: list[int], identities: set[int]) -> set[int]:
    """The threads whose stack pointers are next below these addresses: those in whose stacks they are."""
    pointers = sorted((_call_of(process, number)[1], number) for number in numbers)
    below = ([number for pointer, number in pointers if 0 < pointer <= identity] for identity in identities)
    return {found[-1] for found in below if found}


def _call_of(process: int | str, number: int) -> tuple[int, int]:
    """(the number of the system call in which a thread is or -1, its stack pointer); zeros if it runs."""
    words = _read(f"/proc/{process}/task/{number}/syscall").split()
    return (0, 0) if len(words) < 3 else (int(words[0]), int(words[-2], 16))


def _look(
    process: int | str, number: int, mappings: list[Mapping], memory: int, *, in_full: bool = True
) -> NativeThread:
    thread = NativeThread(number)
    thread.state = _read(f"/proc/{process}/task/{number}/stat").rpartition(")")[2].strip()[:1]
    call, pointer = _call_of(process, number)
    if not pointer:
        return thread
    thread.call = _CALLS.get(os.uname().machine, {}).get(call, "" if call < 0 else f"system call {call}")
    if not in_full:
        return thread
    start, end = next(((start, end) for start, end, _, _ in mappings if start <= pointer < end), (0, 0))
    block = _thread_block(memory, pointer, end)
    if block:
        start, end = pointer, block // _PAGE * _PAGE + _PAGE
    thread.stack = (start, end)
    inner = _libraries(memory, pointer, min(end, pointer + _STACK_BYTES), mappings)
    outer = _libraries(memory, max(pointer, end - _STACK_BYTES), end, mappings)
    thread.waits_in = _named(next(iter(inner), ""))
    thread.belongs_to = _named(outer[-1] if outer else "")
    return thread


def _thread_block(memory: int, pointer: int, end: int) -> int:
    """Where the C library describes the thread whose stack this is, above that stack; 0 if it cannot be told.

    Mappings do not tell: those of neighbouring stacks are one, unless there is a page without rights between them.

    On x86-64, its first and its third word are its own address (``tcbhead_t`` of the GNU C library; the first one by
    Drepper, ELF Handling For Thread-Local Storage, section 3.4.6).
    """
    if os.uname().machine != "x86_64":
        return 0
    for place in range(pointer // _WORD * _WORD, end, _STACK_BYTES):
        try:
            data = os.pread(memory, min(_STACK_BYTES + 2 * _WORD, end - place), place)
        except OSError:
            return 0
        words = memoryview(data)[: len(data) // _WORD * _WORD].cast("Q")
        for number, word in enumerate(words):
            address = place + number * _WORD
            if word == address and words[number + 2 : number + 3].tolist() == [address]:
                return address
    return 0


def _named(path: str) -> str:
    return "" if not path or _is_python(path) else library_name(path)


def _is_python(path: str) -> bool:
    file = os.path.basename(path)
    return (
        file.startswith(("python", "libpython")) or "/lib-dynload/" in path or path == os.path.realpath(sys.executable)
    )


def _libraries(memory: int, start: int, end: int, mappings: list[Mapping]) -> list[str]:
    """The files of the code that words on a stack point into, in their order, without those of the system."""
    try:
        data = os.pread(memory, max(0, end - start) // _WORD * _WORD, start)
    except OSError:
        return []
    code = [(low, high, path) for low, high, is_code, path in mappings if is_code]
    if not code:
        return []
    lowest, highest = code[0][0], max(high for _, high, _ in code)
    found = []
    for position in range(0, len(data) - _WORD + 1, _WORD):
        word = int.from_bytes(data[position : position + _WORD], sys.byteorder)
        # Sizes of stacks and the like are no addresses, though an executable may be loaded as low as that.
        if lowest <= word < highest and word % _PAGE:
            path = next((path for low, high, path in code if low <= word < high), "")
            if path and not os.path.basename(path).startswith(_SYSTEM):
                found.append(path)
    return found


def _mappings(path: str) -> Iterator[Mapping]:
    for line in _read(path).splitlines():
        # addresses, rights, offset, device, inode, perhaps a path
        addresses, rights, *rest = line.split(maxsplit=5)
        start, _, end = addresses.partition("-")
        file = rest[3] if len(rest) > 3 else ""
        yield int(start, 16), int(end, 16), "x" in rights and file[:1] == "/", file


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read())
    except OSError:
        return ""

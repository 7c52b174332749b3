"""Whether other processes that could end a wait for a pipe wait for ever themselves.

A program that asks a child process and reads the answers may wait for an answer that another of its threads has
already taken, while the child waits for the next question. Nobody can end that; only the limit of time did.

Rules of this module:

* Who can read or write a pipe is known: the processes that have it open. If each of those waits for a pipe of which the
  same is true, or for a child that does, nothing will ever come.
* Each thread of them must be inside a system call that only this can end. One that has a time-out, or that is not known
  here, may end by itself.
* The processes are not looked at all at once. How often they were switched to tells that none has run between two
  looks.
* What the system does not tell decides nothing: then the wait goes on.
"""

from __future__ import annotations

import os

from ..stdlib.process_number import real_getpid

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable

    Seen = dict[tuple[int, int], str]  # for each (process, thread): its call, and how often it was switched to

_CALLS = {  # of Linux, in the order of: read, write, wait4, waitid, futex
    "x86_64": (0, 1, 61, 247, 202),
    "aarch64": (63, 64, 260, 95, 98),
}
_MOST = 64  # processes that are looked at


def stuck_for_ever(descriptors: Iterable[int]) -> Seen | None:
    """What all processes that could end a wait for these descriptors of this process do; None if one of them may.

    Args:
        descriptors: what this process waits for, with nothing else that could happen to it.

    Returns:
        What was seen. If two looks see the same, nobody has run in between, and nobody ever will.
    """
    try:
        return _look({os.readlink(f"/proc/self/fd/{number}") for number in descriptors})
    except (OSError, ValueError, IndexError):  # a process has ended meanwhile, or may not be looked at
        return None


def _look(waited_for: set[str]) -> Seen | None:
    numbers = _CALLS.get(os.uname().machine)
    if numbers is None or not waited_for or not all(one.startswith("pipe:") for one in waited_for):
        return None
    holders = _holders_of_pipes()
    seen: Seen = {}
    pipes, processes = set(waited_for), set[int]()
    found = {process for pipe in pipes for process in holders.get(pipe, ())}
    while found:
        processes |= found
        if len(processes) > _MOST:
            return None
        for process in found:
            if not _waits(process, numbers, pipes, seen):
                return None
        ends = {process for pipe in pipes for process in holders.get(pipe, ())}
        children = {child for process in found for child in _children_waited_for(process, numbers, seen)}
        found = (ends | children) - processes
    return seen or None


def _holders_of_pipes() -> dict[str, set[int]]:
    """For each pipe, the other processes that have it open."""
    found: dict[str, set[int]] = {}
    own = real_getpid()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == own:
            continue
        try:
            numbers = os.listdir(f"/proc/{name}/fd")
        except OSError:
            continue  # it has ended, or is somebody else's, who was not given our pipes
        for number in numbers:
            try:
                target = os.readlink(f"/proc/{name}/fd/{number}")
            except OSError:
                continue  # closed meanwhile: then that process runs
            if target.startswith("pipe:"):
                found.setdefault(target, set()).add(int(name))
    return found


def _waits(process: int, numbers: tuple[int, ...], pipes: set[str], seen: Seen) -> bool:
    """Whether all threads of a process wait without a time-out; adds the pipes that they wait for."""
    read, write, *others = numbers
    for thread in map(int, os.listdir(f"/proc/{process}/task")):
        call = _text(f"/proc/{process}/task/{thread}/syscall").split()
        if not call[0].isdigit():
            return False  # it runs
        if int(call[0]) in (read, write):
            target = os.readlink(f"/proc/{process}/fd/{int(call[1], 16)}")
            if not target.startswith("pipe:"):
                return False
            pipes.add(target)
        elif int(call[0]) not in others or (int(call[0]) == others[2] and int(call[4], 16)):
            return False
        switched = [line for line in _text(f"/proc/{process}/task/{thread}/status").splitlines() if "_switches" in line]
        seen[process, thread] = " ".join([*call, *switched])
    return True


def _children_waited_for(process: int, numbers: tuple[int, ...], seen: Seen) -> set[int]:
    """The children of a process in which a thread waits for one to end."""
    waiting = [
        thread for (own, thread), call in seen.items() if own == process and int(call.split()[0]) in numbers[2:4]
    ]
    threads = os.listdir(f"/proc/{process}/task") if waiting else []
    return {int(child) for one in threads for child in _text(f"/proc/{process}/task/{one}/children").split()}


def _text(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()

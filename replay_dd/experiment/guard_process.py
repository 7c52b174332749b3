"""The process that cleans up after replay-dd is killed. It is run by path and imports only the standard library.

Rules of this module:

* It gets the workplace of a process (:mod:`replay_dd.experiment.guard`), waits for the end of its input, and cleans up:
  it ends the programs, removes what they leave outside, and removes the workplace.
* The programs are the processes whose TMPDIR is in the workplace, those in a process group noted by a folder in the
  workplace, and their descendants.
* The notes of a folder are in its file ``notes``, one per line. Process ids in it are valid only until they may have
  been reused.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

MARKER = "workplace"
MARKER_TEXT = "Folders of replay-dd, which removes them. Locked for as long as that runs.\n"
NOTES = "notes"
SYSTEM_NAMES = "system-names"  # a file in a folder: what its program registered with its resource tracker
# The first word of a note; a number or a path follows.
GROUP = "group"  # a process group
SERVER = "server"  # a process group that cleans up after itself when asked to end
LOCK = "lock"  # a file to remove if it contains the number before its path
SOCKET = "socket"  # a socket to remove if nothing listens on it

_X_SERVER = "Xvfb"
_X_SOCKETS = "/tmp/.X11-unix/X"
_GRACE_S = 2.0  # for servers
_MOST_LISTINGS = 20  # of the system's sockets, where one does not tell all
_KILL_LIMIT_S = 30.0  # for the system to end killed processes
_HALTED = (b"T", b"t", b"Z", b"X", b"")  # states of proc(5): halted, traced, ended; none if it is gone


def main() -> None:
    """Wait until the input ends; then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    while os.read(0, 4096):
        pass
    clean(sys.argv[1])


def clean(workplace: str | Path, *, numbers_hold: bool = True) -> None:
    """End all programs of a workplace, and remove it and what they left outside of it.

    Args:
        workplace: its path.
        numbers_hold: whether the noted process ids cannot have been reused yet.
    """
    notes = _notes(os.fspath(workplace))
    mark = b"\0TMPDIR=" + os.fsencode(workplace) + b"/"
    groups = {int(note) for kind, note in notes if kind == GROUP} if numbers_hold else set()
    servers = {int(note) for kind, note in notes if kind == SERVER} if numbers_hold else set()
    # One may have started when there was no time left to note it.
    servers |= {program for program in _programs(mark, set()) if _name_of(program) == _X_SERVER}
    # A server that starts has not told yet where it listens.
    sockets = [path for server in servers for path in halted_sockets(server)]
    _kill(mark, groups, spared=servers)
    _end(servers)
    for path in sockets:
        remove_socket(path)
    for kind, note in notes:
        if kind == LOCK:
            number, _, path = note.partition(" ")
            remove_lock(path, int(number))
        elif kind == SOCKET:
            remove_socket(note)
    for folder in _names(os.fspath(workplace)):
        remove_system_names(os.path.join(workplace, folder))
    remove_tree(workplace)


def remove_system_names(folder: str | Path) -> None:
    """Remove the semaphores and the shared memory that the program of a folder left in the system.

    It registered them with the resource tracker of :mod:`multiprocessing`, which would have removed them if it had not
    been killed together with the program.
    """
    path = os.path.join(folder, SYSTEM_NAMES)
    if not os.path.exists(path):
        return
    left = set()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            command, _, named = line.rstrip("\n").partition(":")
            if command == "REGISTER":
                left.add(named)
            elif command == "UNREGISTER":
                left.discard(named)
    os.unlink(path)
    import _multiprocessing  # type: ignore[import-not-found]  # imported late like socket; a C module without stubs
    import _posixshmem  # type: ignore[import-not-found]  # as above

    remove = {"semaphore": _multiprocessing.sem_unlink, "shared_memory": _posixshmem.shm_unlink}
    for named in left:
        name, _, kind = named.rpartition(":")
        if kind in remove:
            with contextlib.suppress(OSError):
                remove[kind](name)


def remove_lock(path: str, process: int) -> None:
    """Remove a file if it contains this process id."""
    with contextlib.suppress(OSError, ValueError), open(path) as file:
        if int(file.read()) == process:
            os.unlink(path)


def remove_socket(path: str) -> None:
    """Remove a socket if nothing listens on it."""
    import socket  # takes longer to load than everything else, and is rarely needed

    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            os.unlink(path)


def halted_sockets(server: int) -> list[str]:
    """Halt an X server (SIGSTOP), and tell the sockets that it has made so far."""
    _signal_group(server, signal.SIGSTOP)
    until = time.monotonic() + _GRACE_S
    while _state_of(server) not in _HALTED and time.monotonic() < until:
        time.sleep(0.001)
    held = set()
    for name in _names(f"/proc/{server}/fd"):
        with contextlib.suppress(OSError):
            if (target := os.readlink(f"/proc/{server}/fd/{name}")).startswith("socket:"):
                held.add(target)
    listed: dict[str, str] = {}
    for _ in range(_MOST_LISTINGS):
        if held <= listed.keys():
            break
        listed |= _listed_sockets(server)
    return [path for name in held if (path := listed.get(name, "")).startswith(_X_SOCKETS)]


def _listed_sockets(process: int) -> dict[str, str]:
    """The paths of the Unix sockets that a process could see, by the names that its descriptors have in /proc.

    The system tells them piece by piece, and leaves some out where others are closed between two pieces.
    """
    listed = {}
    with contextlib.suppress(OSError), open(f"/proc/{process}/net/unix", encoding="utf-8", errors="replace") as file:
        for line in file:
            # Number, references, protocol, flags, type, state, inode, path (proc(5)).
            fields = line.rstrip("\n").split(None, 7)
            if len(fields) >= 7:
                listed[f"socket:[{fields[6]}]"] = fields[7] if len(fields) == 8 else ""
    return listed


def _state_of(process: int) -> bytes:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0]
    except (OSError, IndexError):
        return b""


def _name_of(process: int) -> str:
    try:
        with open(f"/proc/{process}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def remove_tree(path: str | Path) -> None:
    """Remove a folder with its contents, even if a program made it read-only."""
    try:
        held = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return  # it is gone, or no folder
    try:
        shutil.rmtree(path, ignore_errors=True)
        # Another process may have made a folder of this name since: that is not ours.
        if os.path.isdir(path) and os.path.samestat(os.fstat(held), os.stat(path)):
            _allow_all(path)
            for folder, inner, _ in os.walk(path):
                for name in inner:
                    _allow_all(os.path.join(folder, name))
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(held)


def _allow_all(folder: str | Path) -> None:
    with contextlib.suppress(OSError):
        if not os.path.islink(folder):
            os.chmod(folder, 0o700)


def _notes(workplace: str) -> list[tuple[str, str]]:
    """The kind and the content of all notes."""
    found = []
    for folder in _names(workplace):
        with contextlib.suppress(OSError), open(os.path.join(workplace, folder, NOTES), "rb") as file:
            for line in file.read().splitlines(keepends=True):
                if line.endswith(b"\n"):
                    kind, _, note = os.fsdecode(line[:-1]).partition(" ")
                    found.append((kind, note))
    return found


def _kill(mark: bytes, groups: set[int], spared: set[int]) -> None:
    """Kill programs until none are left; while there are any, they may start new ones."""
    until = time.monotonic() + _KILL_LIMIT_S
    programs = _halt_all(mark, groups, spared)
    scans_without_any = 0
    while True:
        # Those of the last round are included: a killed process takes a while to end, and its parent may end first.
        programs = _programs(mark, groups, programs) - spared
        for group in groups:
            _signal_group(group, signal.SIGKILL)
        _signal(programs, signal.SIGKILL)
        # A process that is just starting another program has no environment for a moment.
        scans_without_any = 0 if programs else scans_without_any + 1
        if scans_without_any == 2 or time.monotonic() > until:
            return
        time.sleep(0.005)


def _halt_all(mark: bytes, groups: set[int], spared: set[int]) -> set[int]:
    """Halt all programs (SIGSTOP) and return them.

    If a process started a child between our search and its end, the child would have lost its parent, and perhaps also
    its environment, before we could see it.
    """
    until = time.monotonic() + _GRACE_S
    halted: set[int] = set()
    while new := _programs(mark, groups, halted) - spared - halted:
        _signal(new, signal.SIGSTOP)
        halted |= new
        while any(_state_of(program) not in _HALTED for program in new) and time.monotonic() < until:
            time.sleep(0.001)
        if time.monotonic() > until:
            break
    return halted


def _signal(processes: set[int], number: int) -> None:
    for process in processes:
        with contextlib.suppress(OSError):
            os.kill(process, number)


def _end(servers: set[int]) -> None:
    """Ask process groups to end; kill those that have not after a while."""
    for group in servers:
        for number in (signal.SIGTERM, signal.SIGCONT):
            _signal_group(group, number)
    until = time.monotonic() + _GRACE_S
    while _programs(b"", servers) and time.monotonic() < until:
        time.sleep(0.01)
    _kill(b"", servers, spared=set())


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, number)


def _programs(mark: bytes, groups: set[int], known: Collection[int] = ()) -> set[int]:
    """The processes with the mark in their environment, in one of the groups, or known, and their descendants."""
    found: set[int] = set()
    children: dict[int, list[int]] = {}
    for name in _names("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # it has just ended, or belongs to someone else
            with open(f"/proc/{name}/stat", "rb") as file:
                # After the program name, which may contain anything: state, parent, group (proc(5)).
                state, parent, group = file.read().rpartition(b")")[2].split()[:3]
            if state in (b"Z", b"X"):
                continue
            children.setdefault(int(parent), []).append(int(name))
            if int(group) in groups or int(name) in known:
                found.add(int(name))
            if mark:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in b"\0" + file.read():
                        found.add(int(name))
    new = list(found)
    while new:
        new = [child for program in new for child in children.get(program, ()) if child not in found]
        found.update(new)
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


if __name__ == "__main__":
    main()

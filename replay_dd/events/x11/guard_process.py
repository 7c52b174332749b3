"""The process that cleans up when replay-dd was killed. It is run by its path and imports the standard library only.

It reads lines: ``+what`` notes something, ``-what`` forgets it. At the end of the input it ends the process groups that
are noted, removes the locks of displays (Xvfb does so itself, unless it is killed), and removes folders.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import sys
import time

GRACE_S = 2.0


def main() -> None:
    """Read notes until the input ends; then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    noted: dict[str, None] = {}
    for line in sys.stdin.buffer:
        text = os.fsdecode(line).rstrip("\n")
        if text.startswith("+"):
            noted[text[1:]] = None
        elif text:
            noted.pop(text[1:], None)
    if noted:
        clean(list(noted))


def clean(noted: list[str]) -> None:
    """End and remove what is noted."""
    displays = [note.split()[1:] for note in noted if note.startswith("display ")]
    for note in noted:
        if note.startswith("group "):
            end(int(note.split()[1]), signal.SIGKILL)
    for _, process in displays:
        end(int(process), signal.SIGTERM)
    until = time.monotonic() + GRACE_S
    while time.monotonic() < until and any(os.path.exists(f"/tmp/.X11-unix/X{number}") for number, _ in displays):
        time.sleep(0.01)
    for number, process in displays:
        end(int(process), signal.SIGKILL)
        remove_locks(int(number), int(process))
    for note in noted:
        if note.startswith("folder "):
            shutil.rmtree(note.partition(" ")[2], ignore_errors=True)


def end(process: int, number: int) -> None:
    """Send a signal to a process group."""
    with contextlib.suppress(OSError):
        os.killpg(process, number)


def remove_locks(number: int, process: int) -> None:
    """Remove what a killed X server leaves: its lock file, if it is of that process, and its socket, if nobody answers.

    A server that chooses its number itself makes no lock file, and takes over a socket that nobody answers.
    """
    lock, address = f"/tmp/.X{number}-lock", f"/tmp/.X11-unix/X{number}"
    with contextlib.suppress(OSError, ValueError), open(lock) as file:
        if int(file.read()) == process:
            os.unlink(lock)
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address)
        except ConnectionRefusedError:
            os.unlink(address)


if __name__ == "__main__":
    main()

"""Runs a program like :mod:`.process`, and sees where it was when a signal killed it.

Rules of this module:

* A program that a signal kills mostly has not said where, and all such crashes of a program would be one failure. So
  where the first one does not say it, it is run again under a tracer, and so are all runs after it.
* The program that crashes may be one that a shell, a script or a driver starts. Such a starter ends with a status of
  its own, and may say nothing of the signal. So everything that a program starts is watched, too.
* A starter that sees a crash and goes on to start others lives with it: that crash is not why the run fails, unless the
  run ends as the crash did.
* What an ending says completely by itself is never replaced: an exception may follow a crash that has not caused it.
* Others are not traced: some programs trace themselves, as sanitizers do to find leaks.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from dataclasses import replace

from replay_dd.experiment.crash_places import DEADLY, Crash, Tracer
from replay_dd.experiment.crash_reports import crash_report
from replay_dd.experiment.crash_words import place_in_words
from replay_dd.experiment.process import (
    LIVE,
    SHELL_SIGNAL,
    Command,
    Finished,
    PrivateFolder,
    directory_for,
    finished_from,
    kill_group,
    start_process,
)

# How starters of programs word that a signal has ended one.
_OF_SIGNALS = re.compile(
    r"\bSIG(?:SEGV|BUS|FPE|ILL|ABRT|TRAP|SYS)\b|[Ss]egmentation fault|Aborted|core dumped|signal: \d"
)
# It must not crash before it is traced.
_STOPPED = ("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh")
_LONGEST_PAUSE_S = 0.004
_FIRST_PAUSE_S = 0.0002


def is_unexplained(finished: Finished) -> bool:
    """Whether a signal may have killed a program, or one that it started, and its output does not say where."""
    if finished.timed_out or (finished.status == 0 or finished.signal not in {None, *DEADLY}):
        return False
    report = crash_report(finished.output)
    if report is None or report.lacks_place:
        return True
    return finished.signal is None and bool(_OF_SIGNALS.search(report.words))


def run_traced(command: Command, folder: PrivateFolder, *, time_limit_s: float | None) -> Finished:
    """Run a command until it ends, with its output captured; the place of a crash is known then.

    Args:
        command: what to run.
        folder: the private folder of this run.
        time_limit_s: seconds after which it is killed; None for no limit.
    """
    command = replace(command, arguments=(*_STOPPED, *command.arguments))
    input_path, output_path = folder.path / "stdin", folder.path / "output"
    input_path.write_bytes(command.standard_input)
    with input_path.open("rb") as stdin, output_path.open("wb") as output:
        started = time.monotonic()
        process = start_process(command, directory_for(command, folder), folder, stdin.fileno(), output.fileno())
        LIVE.add(process)
        tracer = None
        try:
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            tracer = _FamilyTracer(process.pid)
            if os.WIFSTOPPED(status):
                os.kill(process.pid, signal.SIGCONT)
            else:  # an interrupt has ended it
                tracer.status = status
            timed_out = not _wait(tracer, time_limit_s)
        finally:
            kill_group(process)
            if tracer is None or not _wait(tracer, None):
                process.wait()
            else:
                assert tracer.status is not None
                process.returncode = os.waitstatus_to_exitcode(tracer.status)
                tracer.end()
            LIVE.remove(process)
    finished = finished_from(process.returncode, timed_out, time.monotonic() - started, output_path)
    crash = tracer.crash
    if crash is None or not is_unexplained(finished):
        return finished
    ends_alike = crash.signal in (finished.signal, (finished.status or 0) - SHELL_SIGNAL)
    if tracer.is_lived_with and not ends_alike:
        return finished
    place = place_in_words(crash)
    if not ends_alike:  # it is that of what the program had started
        name = signal.Signals(crash.signal).name
        place = f"{name} in {place}" if place else name
    return finished._replace(place=place)


class _FamilyTracer(Tracer):
    """Watches a child of this thread and all that it starts, and sees who lives with a crash.

    Attributes:
        is_lived_with: whether the starter of what crashed last took its end from the system, and then started others.
    """

    def __init__(self, process: int) -> None:
        self.is_lived_with = False
        self._youngest: dict[int, int] = {}  # what each process has started last
        self._crashed = 0
        self._starter = 0  # the one that waits for what has crashed; 0 if none does
        super().__init__(process, descendants=True)

    def _note_birth(self, thread: int) -> None:
        before = set(self._others)
        super()._note_birth(thread)
        for born in self._others - before:  # none if it is a thread
            starter = _number_of(thread, "Tgid")
            self._youngest[starter] = born
            if starter == self._starter:
                # It is stopped, so it cannot take the end of the other one now.
                self.is_lived_with = not os.path.exists(f"/proc/{self._crashed}")
                self._starter = 0

    def _crash(self, thread: int, number: int) -> Crash:
        self._crashed, starter = _number_of(thread, "Tgid"), _number_of(thread, "PPid")
        # One that has started others meanwhile does not wait for this one, and may start more before it sees the crash.
        self._starter = starter if self._youngest.get(starter) == self._crashed else 0
        self.is_lived_with = False
        return super()._crash(thread, number)


def _number_of(thread: int, name: str) -> int:
    """What the system tells of a thread by that name; 0 if there is none."""
    with contextlib.suppress(OSError), open(f"/proc/{thread}/status") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(f"{name}:")), 0)
    return 0


def _wait(tracer: Tracer, time_limit_s: float | None) -> bool:
    """Wait for the end; False if the limit came first."""
    until = None if time_limit_s is None else time.monotonic() + time_limit_s
    pause_s = _FIRST_PAUSE_S
    while tracer.poll() is None:
        if until is not None and time.monotonic() > until:
            return False
        if tracer.is_busy:
            pause_s = _FIRST_PAUSE_S
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    return True

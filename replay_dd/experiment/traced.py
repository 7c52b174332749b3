"""Runs a program like :mod:`.process`, and sees where it was when a signal killed it.

Rules of this module:

* A program that a signal kills mostly has not said where, and all such crashes of a program would be one failure. So
  where the first one does not say it, it is run again under a tracer, and so are all runs after it.
* The program that crashes may be one that a shell, a script or a driver starts. Such a starter ends with a status of
  its own, and may say nothing of the signal. So everything that a program starts is watched, too.
* A starter may live with a crash. A run in which what crashes ends with status 0 instead shows that: if it fails all
  the same, the crash is not why. Where the run ends as the crash did, there is no doubt.
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

from replay_dd.experiment.complaints import complaints
from replay_dd.experiment.crash_places import DEADLY, Crash, Tracer
from replay_dd.experiment.crash_reports import crash_report
from replay_dd.experiment.crash_words import place_in_words
from replay_dd.experiment.message_texts import own_words
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
_OF_OTHER = re.compile(r"(SIG[A-Z]+)(?: in |$)")
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


def is_doubtful(finished: Finished) -> bool:
    """Whether a traced run ended otherwise than what it has started and what crashed."""
    found = _OF_OTHER.match(finished.place)
    return found is not None and signal.Signals[found[1]] not in (
        finished.signal,
        (finished.status or 0) - SHELL_SIGNAL,
    )


def fails_alike(finished: Finished, spared: Finished) -> bool:
    """Whether a run fails in the same way though nothing crashes: so the crash is not why.

    Args:
        finished: the run with the crash.
        spared: the one in which what crashes ends with status 0.
    """
    if spared.timed_out or (spared.status, spared.signal) != (finished.status, finished.signal):
        return False
    said, of_both = (
        {own_words(line, ()) for line in complaints(run.output) if not _OF_SIGNALS.search(line)}
        for run in (spared, finished)
    )
    return not said or not said.isdisjoint(of_both)


def run_traced(
    command: Command, folder: PrivateFolder, *, time_limit_s: float | None, spares: bool = False
) -> Finished:
    """Run a command until it ends, with its output captured; the place of a crash is known then.

    Args:
        command: what to run.
        folder: the private folder of this run.
        time_limit_s: seconds after which it is killed; None for no limit.
        spares: let what it starts end with status 0 where it would crash.
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
            tracer = _FamilyTracer(process.pid, spares=spares)
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
    place = place_in_words(crash)
    if not ends_alike:  # it is that of what the program had started
        name = signal.Signals(crash.signal).name
        place = f"{name} in {place}" if place else name
    return finished._replace(place=place)


class _FamilyTracer(Tracer):
    """Watches a child of this thread and all that it starts.

    Args:
        process: the child.
        spares: let what it starts end with status 0 where it would crash.
    """

    def __init__(self, process: int, *, spares: bool) -> None:
        self._spares = spares
        self._starter = 0  # the one that has started what crashed last
        super().__init__(process, descendants=True)

    def _crash(self, thread: int, number: int) -> Crash:
        before, process = self.crash, _number_of(thread, "Tgid")
        passes_on = before is not None and before.signal == number and process == self._starter
        self._starter = _number_of(thread, "PPid")
        if before is not None and passes_on and self._is_sent(thread):
            return before  # `timeout` ends itself as what it has started has ended
        return super()._crash(thread, number)

    def _ended_for(self, thread: int, number: int) -> bool:
        """Whether it is what the child has started, and ends as if it had not crashed."""
        return self._spares and _number_of(thread, "Tgid") != self.process and self._let_exit(thread)


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

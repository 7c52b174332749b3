"""Runs a program like :mod:`.process`, and sees where it was when a signal killed it.

Rules of this module:

* A program that a signal kills mostly has not said why, and all such crashes of a program would be one failure. So
  where the first one says nothing, it is run again under a tracer, and so are all runs after it.
* Others are not traced: some programs trace themselves, as sanitizers do to find leaks.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

from replay_dd.experiment.crash_places import Crash, Tracer
from replay_dd.experiment.crash_reports import crash_report
from replay_dd.experiment.process import (
    LIVE,
    Command,
    Finished,
    PrivateFolder,
    directory_for,
    finished_from,
    kill_group,
    start_process,
)
from replay_dd.experiment.source_lines import source_of

# Signals for what the program has not meant to do. Before it aborts, it often says why.
_MISHAPS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL}
# It must not crash before it is traced.
_STOPPED = ("/bin/sh", "-c", 'kill -STOP $$; exec "$@"', "sh")
_LONGEST_PAUSE_S = 0.004
_FIRST_PAUSE_S = 0.0002


def is_unexplained(finished: Finished) -> bool:
    """Whether a signal killed a program that has not said why."""
    return finished.signal in _MISHAPS and crash_report(finished.output) is None


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
            tracer = Tracer(process.pid)
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
            LIVE.remove(process)
    finished = finished_from(process.returncode, timed_out, time.monotonic() - started, output_path)
    crash = tracer.crash
    return finished._replace(place=_in_words(crash)) if crash and finished.signal == crash.signal else finished


def _in_words(crash: Crash) -> str:
    source = source_of(*crash.code) if crash.code else ""
    return f"{crash.sure_place}: {source}" if source and crash.sure_place else crash.sure_place


def _wait(tracer: Tracer, time_limit_s: float | None) -> bool:
    """Wait for the end; False if the limit came first."""
    until = None if time_limit_s is None else time.monotonic() + time_limit_s
    pause_s = _FIRST_PAUSE_S
    while tracer.poll() is None:
        if until is not None and time.monotonic() > until:
            return False
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
    return True

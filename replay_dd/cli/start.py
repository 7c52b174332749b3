"""Where the command starts and ends: soon, and without a traceback if it is interrupted while its modules are loaded.

Rules of this module:

* What the command loads stays, so the garbage collector need not look for garbage in it: that took a tenth of the time.
* When the command is over, the process ends at once. The interpreter would take apart some 300 modules, object by
  object. Exit handlers run before; whatever is not ordinary is left to the interpreter.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading

_OBJECTS_BETWEEN_COLLECTIONS = 50_000  # a command has about twice as many when it begins to work; the default is 700


def main() -> None:
    """Run the command line; exits with the status of the command."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])
    try:
        from replay_dd.cli.main import main as run
    except KeyboardInterrupt:
        from replay_dd.errors import EXIT_INTERRUPTED

        sys.stderr.write("replay-dd: error: Interrupted. [interrupted]\n")
        sys.exit(EXIT_INTERRUPTED)
    try:
        run()
    except SystemExit as end:
        if type(end.code) is int and not _is_watched() and threading.active_count() == 1:
            _leave_at_once(end.code)
        raise


def _is_watched() -> bool:
    """Whether somebody wants to see more of this process: its warnings, its profile, or what it leaves behind."""
    return bool(sys.flags.dev_mode or sys.flags.inspect or sys.getprofile() or sys.gettrace())


def _leave_at_once(status: int) -> None:
    """End this process; returns if its output cannot be written."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command is over: too late to interrupt it
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):
        return  # the interpreter has a status for that
    os._exit(status & 0xFF)

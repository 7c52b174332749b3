"""How a forked copy exits without the interpreter's costly finalization.

Rules of this module:

* It serves copies whose program had no outside effects (``run_end.py``), after everything the program does at exit.
* Exit status, standard streams, and the exit handlers of C libraries are those of an ordinary exit. If the status is
  not certain, the interpreter finalizes as usual, with nothing left to tear down.
"""

from __future__ import annotations

import gc
import sys

from ..accelerator import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from .exit_watch import ExitWatch


def leave_at_once(exits: ExitWatch, seen: bool) -> bool:
    """End this process if its exit status is known and its streams can be flushed.

    Args:
        exits: what is known of the exit.
        seen: whether that was sure to see a `SystemExit` while the program ran.

    Returns:
        Otherwise, whether the interpreter has no error to tell of, for which it would need its modules.
    """
    status = _exit_status(exits, seen)
    if status is None:
        return True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:
            return False  # the interpreter has a status for that
    accelerator.leave(status)
    return True


def leave_to_the_system() -> None:
    """Keep the interpreter from tearing down modules and their objects one by one."""
    kept: list[object] = [sys.modules.copy()]
    kept.append(kept)  # nothing refers to it but itself, so it is garbage, but
    gc.freeze()  # no collector looks at it any more.
    sys.modules.clear()


def _exit_status(exits: ExitWatch, seen: bool) -> int | None:
    if accelerator is None or sys.flags.inspect or sys.flags.interactive:
        return None
    if exits.has_left:
        return exits.status
    if not seen:
        return None
    # An exception that nobody caught is kept there; but a program may have kept one there by itself.
    return 0 if getattr(sys, "last_value", None) is None else None

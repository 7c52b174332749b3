"""User-facing errors, sorted by whose fault they are.

Rules of this package:

* Every error that a user can meet is a :class:`ReplayDDError`; anything else that escapes is a bug in replay-dd.
* The modules are sorted by fault: :mod:`~replay_dd.errors.user` (the input cannot be used),
  :mod:`~replay_dd.errors.program` (the program under test does not do what is needed), and
  :mod:`~replay_dd.errors.machine` (something is missing here). Our own bugs have no class: they are tracebacks.
* One class for each problem, whatever the circumstance. If the remedy differs, the raiser passes its own hint.
* Every error class has a *slug*, and every slug has an entry in ``docs/reference/messages.md`` (a test compares them).
* The message says what happened and why; the hint says what to do next.
"""

from __future__ import annotations

from typing import ClassVar

EXIT_DONE = 0
EXIT_USAGE = 2
EXIT_BASELINE = 3
EXIT_FLAKY = 4
EXIT_LOG = 5
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class ReplayDDError(Exception):
    """Base of all errors meant for the user.

    Args:
        message: what happened and why, in one or two sentences.
        hint: what to do next; by default the class's own hint.
    """

    slug: ClassVar[str] = ""
    exit_code: ClassVar[int] = EXIT_USAGE
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint


def all_error_classes() -> list[type[ReplayDDError]]:
    """Every error class imported so far, sorted by slug; bases without a slug are left out."""
    found: dict[str, type[ReplayDDError]] = {}
    waiting: list[type[ReplayDDError]] = [ReplayDDError]
    while waiting:
        error_class = waiting.pop()
        waiting.extend(error_class.__subclasses__())
        if error_class.slug:
            found[error_class.slug] = error_class
    return [found[slug] for slug in sorted(found)]

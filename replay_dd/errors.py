"""Errors that a user can cause, and how they are told.

Rules of this module:

* Every error a user can cause is a :class:`ReplayDDError`; anything else that escapes is a bug in replay-dd.
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
    """Base of all errors that a user can cause.

    Args:
        message: what happened and why, in one or two sentences.
        hint: what to do next; the class's own hint where none is given.
    """

    slug: ClassVar[str] = "error"
    exit_code: ClassVar[int] = EXIT_USAGE
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint


def all_error_classes() -> list[type[ReplayDDError]]:
    """Every error class of the project that is imported by now, sorted by slug."""
    found: dict[str, type[ReplayDDError]] = {}
    waiting: list[type[ReplayDDError]] = [ReplayDDError]
    while waiting:
        error_class = waiting.pop()
        waiting.extend(error_class.__subclasses__())
        if error_class is not ReplayDDError:
            found[error_class.slug] = error_class
    return [found[slug] for slug in sorted(found)]

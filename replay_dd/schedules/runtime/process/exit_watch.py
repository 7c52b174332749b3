"""How the runtime learns of the `SystemExit` that ends the program: its status, its message and where it was raised.

Rules of this module:

* The interpreter tells nobody of a `SystemExit` that it does not catch for a thread. It asks the exception for its
  `code`, without any Python code running, and writes that to standard error unless it is a number. So the attribute is
  replaced by one that notices.
* Whatever is noticed is told as plain values at once: a kept exception would keep the program's objects alive.
"""

from __future__ import annotations

import gc
import sys

from ..accelerator import accelerator
from ..compat import EXCEPTIONS_ARE_OBJECTS
from ..observing import all_of_class, full_type_name, is_a, message_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    Frames = tuple[tuple[str, str, int, str, bool], ...]


# Taken before the program or the runtime may put others in their place.
_gettrace, _getframe = sys.gettrace, sys._getframe
_referents_of = gc.get_referents
_traceback_of: Any = BaseException.__dict__["__traceback__"].__get__
_code_of: Any = SystemExit.__dict__["code"].__get__
_subclasses_of: Any = type.__subclasses__
_KEPT_BITS = 0xFF  # of the number that a process exits with
_LARGEST_INT, _LARGEST_LONG = 1 << 31, 1 << 63


class ExitWatch:
    """What is known of the exit of the program.

    Args:
        frames_of: tells the frames of a traceback.

    Attributes:
        has_left: whether the interpreter has asked a `SystemExit` for its code.
        status: the exit status that comes of it; None if that is not certain.
        number: the number that it exits with, whatever the system keeps of it; None if it is none.
        told: type, message and frames of the exception; None if there is none.
    """

    def __init__(self, frames_of: Callable[[TracebackType | None], Frames]) -> None:
        self._frames_of = frames_of
        self._unwound: tuple[int, Frames] = (0, ())
        self.has_left = False
        self.status: int | None = None
        self.number: int | None = None
        self.told: tuple[str, str, Frames] | None = None

    def install(self) -> None:
        """Watch from now on."""
        if accelerator is not None:
            accelerator.watch_exit(self._leaves, self.unwinds)
        else:
            _replace_code(self._leaves)

    def sees_all(self) -> bool:
        """Whether the interpreter asks each `SystemExit` that ends the program for its code, in a way that is seen."""
        return (EXCEPTIONS_ARE_OBJECTS or _gettrace() is not None) and not _is_hidden(SystemExit)

    def unwinds(self, error: BaseException, trace: TracebackType | None) -> None:
        """A `SystemExit` leaves the outermost function; called where it does not know its traceback itself."""
        self._unwound = (id(error), self._frames_of(trace))

    def _leaves(self, error: BaseException, code: Any) -> None:
        self.has_left = True
        is_number = is_a(code, int)
        self.number = int.__index__(code) if is_number else None
        self.status = _status_of(code)
        known, frames = self._unwound
        if known != id(error):
            frames = self._frames_of(_traceback_of(error))
        message = "" if code is None or is_number else message_of(code) or ""
        self.told = (full_type_name(type(error)), message, frames)


def told_of(error: BaseException) -> str:
    """What a `SystemExit` has to say: its message, or a number other than 0; empty if nothing."""
    code = _code_of(error)
    return "" if code is None or (is_a(code, int) and not int.__index__(code)) else message_of(code) or ""


def kept_of(number: int) -> int:
    """The exit status that the system keeps of a number that a program exits with."""
    return (number if -_LARGEST_LONG <= number < _LARGEST_LONG else -1) & _KEPT_BITS


def in_words(number: int) -> str:
    """A number that a program exits with; a long one cannot be written."""
    return str(number) if -_LARGEST_LONG <= number < _LARGEST_LONG else "(of more than 64 bits)"


def _status_of(code: Any) -> int | None:
    if code is None:
        return 0
    if not is_a(code, int):
        return 1  # the interpreter writes it to standard error
    number = int.__index__(code)
    return kept_of(number) if -_LARGEST_INT <= number < _LARGEST_INT else None


def _is_hidden(kind: type) -> bool:
    """Whether a class made from this one has a `code` of its own, which the interpreter then takes."""
    made: list[type] = _subclasses_of(kind)
    return any("code" in dict(all_of_class(one)) or _is_hidden(one) for one in made)


def _replace_code(leaves: Callable[[BaseException, Any], None]) -> None:
    """The same as the accelerator does: only C may set attributes of a class in C, but its dictionary can be found."""
    attributes = next((one for one in _referents_of(SystemExit.__dict__) if type(one) is dict and "code" in one), None)
    if attributes is None:
        return
    member: Any = attributes["code"]

    def code_of(error: BaseException) -> Any:
        code = member.__get__(error)
        try:
            _getframe(1)
        except ValueError:  # nothing in Python calls
            leaves(error, code)
        return code

    attributes["code"] = property(code_of, member.__set__, None, member.__doc__)

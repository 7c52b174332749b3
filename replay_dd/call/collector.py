"""Finds the call that fails inside a ``with`` block.

Rules of this module:

* Collected is the call that the block itself makes and that the exception comes out of: not the first one of the block,
  and not one further inside.
* Arguments are copied when the call begins, since it may change them.
* The trace function of the thread (``sys.settrace``) is ours during the block, and is put back after it.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

from replay_dd.call.made_call import Call

# Parts of the block itself, which have frames of their own.
_INLINE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# The end of the block looks like a call in it, too.
_SKIPPED = (*_INLINE, "__exit__")


class Collector:
    """Watches the calls of one frame.

    Args:
        frame: the one of the ``with`` block.
    """

    def __init__(self, frame: FrameType) -> None:
        while frame.f_back is not None and frame.f_globals.get("__name__") == "contextlib":
            frame = frame.f_back
        self._frame = frame
        self._before: Any = None
        self._latest: tuple[FrameType, Call | Exception] | None = None
        self._generators: dict[FrameType, Call | Exception] = {}

    def start(self) -> None:
        """Begin to watch."""
        self._before = sys.gettrace()
        sys.settrace(self._on_call)

    def stop(self) -> None:
        """Stop watching."""
        sys.settrace(self._before)

    def call_of(self, traceback: TracebackType | None) -> Call | None:
        """The call that an exception came out of; None if the block itself raised it, or a function written in C.

        Raises:
            ArgumentError: the call cannot be repeated.
        """
        while traceback is not None and not (
            traceback.tb_frame is not self._frame and traceback.tb_frame.f_code.co_name not in _INLINE
        ):
            traceback = traceback.tb_next
        if traceback is None:
            return None
        frame = traceback.tb_frame
        found = self._generators.get(frame)
        if found is None and self._latest is not None and self._latest[0] is frame:
            found = self._latest[1]
        if isinstance(found, Exception):
            raise found
        return found

    def _on_call(self, frame: FrameType, event: str, argument: Any) -> None:
        caller = frame.f_back
        while caller is not None and caller is not self._frame and caller.f_code.co_name in _INLINE:
            caller = caller.f_back
        if caller is not self._frame or frame.f_code.co_name in _SKIPPED or frame in self._generators:
            return
        # Nothing of this is to be traced.
        sys.settrace(None)
        try:
            found: Call | Exception = _call_of_frame(frame)
        except Exception as error:  # copying runs code of the program
            found = error
        finally:
            sys.settrace(self._on_call)
        if frame.f_code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            self._generators[frame] = found
        else:
            self._latest = frame, found


def _call_of_frame(frame: FrameType) -> Call:
    """The call whose frame has just begun."""
    code, values = frame.f_code, dict(frame.f_locals)
    function = _function_of(frame)
    parameters = inspect.signature(function, follow_wrapped=False).parameters
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    left_out = False
    variable = any(one.kind is one.VAR_POSITIONAL and values[name] for name, one in parameters.items())
    for name, parameter in parameters.items():
        value = values[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(value)
        elif value is parameter.default and not variable and parameter.kind is not parameter.POSITIONAL_ONLY:
            # Passed or not, it is what would be passed; a sentinel must not be copied.
            left_out = True
        elif parameter.kind is parameter.KEYWORD_ONLY or left_out:
            keywords[name] = value
        else:
            positional.append(value)
    if code.co_name == "__init__" and positional and _constructs(type(positional[0]), code):
        return Call(type(positional[0]), positional[1:], keywords)
    if positional and isinstance(positional[0], type):
        bound = getattr(positional[0], code.co_name, None)
        if inspect.ismethod(bound) and bound.__func__ is function:  # a class method
            return Call(bound, positional[1:], keywords)
    return Call(function, positional, keywords)


def _constructs(kind: type, code: CodeType) -> bool:
    return getattr(kind.__init__, "__code__", None) is code  # type: ignore[misc]  # read, not called


def _function_of(frame: FrameType) -> Callable[..., Any]:
    """The function that a frame is a call of.

    Several functions can have the same code: then it is the one with the same variables around it.
    """
    named: Any = frame.f_globals
    for part in frame.f_code.co_qualname.split("."):
        named = named.get(part) if isinstance(named, dict) else getattr(named, "__dict__", {}).get(part)
    if inspect.isfunction(named) and named.__code__ is frame.f_code and not named.__closure__:
        return named  # most are; a look through all objects takes tens of milliseconds
    found = [one for one in gc.get_referrers(frame.f_code) if inspect.isfunction(one) and one.__code__ is frame.f_code]
    around = frame.f_locals
    for function in found:
        cells = zip(frame.f_code.co_freevars, function.__closure__ or (), strict=True)
        if all(_holds(cell, around, name) for name, cell in cells):
            return function
    raise LookupError(f"the function {frame.f_code.co_qualname} cannot be found")


def _holds(cell: Any, values: Any, name: str) -> bool:
    try:
        return cell.cell_contents is values.get(name)
    except ValueError:
        return name not in values

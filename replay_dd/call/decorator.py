"""A decorator: where a call of the function fails, its traceback says which smaller call fails in the same way.

Rules of this module:

* The exception arrives as it was raised, with a note. Whatever goes wrong in the search is a note, too.
* The calls that the search makes, and those inside of a call, are not searched.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from replay_dd.call.debugger import DeltaDebugger
from replay_dd.call.failure import Ending
from replay_dd.call.in_child import described
from replay_dd.call.made_call import Call
from replay_dd.errors import ReplayDDError
from replay_dd.errors.user import ArgumentError

P = ParamSpec("P")
T = TypeVar("T")
_DEFAULT_BUDGET_S = 10.0
_inside = threading.local()


@overload
def minimize_failure(function: Callable[P, T]) -> Callable[P, T]: ...
@overload
def minimize_failure(
    *, time_budget_s: float | None = _DEFAULT_BUDGET_S, **options: Any
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
def minimize_failure(
    function: Callable[..., Any] | None = None,
    *,
    time_budget_s: float | None = _DEFAULT_BUDGET_S,
    **options: Any,
) -> Any:
    """Minimize the arguments of calls that raise an exception, and add the minimal call to it as a note.

    Args:
        function: the function; left out if there are options.
        time_budget_s: seconds for the search after a failure; None for no limit.
        **options: see :class:`~replay_dd.call.debugger.DeltaDebugger`.

    Raises:
        ArgumentError: it is a class, no function at all, or a coroutine or generator function, whose calls fail
            later; or an option is wrong.
    """
    DeltaDebugger(time_budget_s=time_budget_s, **options)  # complains about options now, and not when a call fails
    if function is None:
        return functools.partial(_wrapped, time_budget_s=time_budget_s, **options)
    return _wrapped(function, time_budget_s=time_budget_s, **options)


def _wrapped(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if isinstance(function, type):
        raise ArgumentError(f"{function.__qualname__} is a class", "Decorate its `__init__`, or other methods.")
    if isinstance(function, classmethod | staticmethod):
        kind = type(function).__name__
        raise ArgumentError(f"a {kind} was decorated", f"Write `@minimize_failure` below `@{kind}`.")
    if not callable(function):
        raise ArgumentError(f"{function!r} cannot be decorated", "Decorate a function.")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise ArgumentError(
            f"{function.__qualname__} is a coroutine or generator function: a call of it only begins its work",
            "Decorate the function that awaits it, or goes through it.",
        )

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        if getattr(_inside, "searching", False):
            return function(*arguments, **keywords)
        _inside.searching = True
        try:
            return _watched(function, arguments, keywords, options)
        finally:
            _inside.searching = False

    return call


def _watched(
    function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any], options: dict[str, Any]
) -> Any:
    try:
        made = Call(function, arguments, keywords)  # before the function can change its arguments
    except ReplayDDError:
        return function(*arguments, **keywords)
    try:
        return function(*arguments, **keywords)
    except Exception as error:
        error.add_note(_note(made, error, options))
        raise


def _note(made: Call, error: Exception, options: dict[str, Any]) -> str:
    collected = DeltaDebugger(**options)
    try:
        collected.take(made, Ending.of(described(error)), error)
        minimal = repr(collected)
    except ReplayDDError as problem:
        return f"replay-dd: no smaller call was searched: {problem.message}"
    return f"replay-dd: minimal call ({collected.tests} tests): {minimal}"

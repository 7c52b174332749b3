"""What threads ask an event loop to do: ``loop.call_soon_threadsafe(future.set_result, 1)``.

Nothing of the program's own code runs where the loop does it, so nothing would be seen of it.

Rules of this module:

* Only methods of the interpreter and its library are told: others show what they do in their own code.
* Who asks has decided it, so it is told there as if it were done. It is told once more where it is done, in the thread
  of the loop, at the line of who asked.
* A ``functools.partial`` of such a method is that method, with the arguments that it adds.
* Only what asyncio's own loops keep is looked at: of a loop in C, only that it was asked is told. What is asked lives
  no longer for being watched.
"""

from __future__ import annotations

from _collections import deque  # type: ignore[import-not-found]  # of C, without stubs; `collections` loads slowly
from _functools import partial  # type: ignore[import-not-found]  # of C, without stubs; `functools` loads slowly
from _weakref import ReferenceType as _Reference

from ..points.place import line_of
from . import values
from .access import CALLS, Access
from .called import module_of_method, name_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..baton.thread import ManagedThread
    from ..points.place import Place
    from .dying import Gone, Holder, Way
    from .operands import Expression

    Does = Callable[[object, Expression, str, list[Any], str], Access | None]

_CALLBACK_AT = {"call_soon": 0, "call_soon_threadsafe": 0, "call_later": 1, "call_at": 1}
_HANDLES = "asyncio.events"
_UNBOUND = (values.FunctionType, values.MethodDescriptorType)
_UNKNOWN = ("?", "", -1)


def asked_of_loop(
    loop: object,
    name: str,
    arguments: list[Any],
    ways: list[Expression],
    does: Does,
    of_library: Callable[[str], bool],
) -> list[Access]:
    """What a loop is asked to do later, as an access; empty if that is seen in the program's own code.

    Args:
        loop: the event loop.
        name: of its method.
        arguments: of that, methods with their objects; see :func:`bound`.
        ways: how the code came to each of them.
        does: tells what a method does to its object, which comes first, with how the code came to that; then follow the
            name of the method, its arguments, and its module.
        of_library: whether a file of code belongs to the standard library.
    """
    at = _CALLBACK_AT.get(name, len(arguments))
    callback, first = _unwrapped(arguments[at]) if at < len(arguments) else (None, [])
    own, method, called = _method(callback)
    in_program = values.exactly(method, values.FunctionType) and not of_library(method.__code__.co_filename)
    if own is None or not called or in_program:
        return []
    way = ways[at] if callback is arguments[at] else None
    to_own = way[1] if way is not None and way[0] == "attribute" else None
    access = does(own, to_own, called, [*first, *arguments[at + 1 :]], module_of_method(own, method, called))
    if access is None or not access.writes:
        return []
    access.asks = loop, own, access.detail
    access.detail = f"asks the loop for {access.detail}"
    access.old = access.new = values.UNKNOWN
    access.again = access.before = None
    return [access]


def bound(given: Any, way: Expression, evaluate: Callable[[Expression], object]) -> object:
    """What a call gets, as a method of its object if it is one; without the stack, it was only found in a class.

    Args:
        given: what the call gets.
        way: how the code came to it.
        evaluate: tells what is at the end of such a way.
    """
    if way is None or way[0] != "attribute" or not values.exactly(given, *_UNBOUND):
        return given
    own = evaluate(way[1])
    if values.in_class(type(own), way[2])[1] is not given:
        return given
    return given.__get__(own, type(own))  # some methods in C crash without the type


def _unwrapped(callback: Any) -> tuple[Any, list[Any]]:
    """(what is called in the end, the arguments that a ``functools.partial`` puts first)."""
    return (callback.func, list(callback.args)) if values.exactly(callback, partial) else (callback, [])


def _method(callback: Any) -> tuple[object, Any, str]:
    """(the object of a method, the method itself, its name); None for the object if it is no method."""
    if values.is_a(callback, values.BuiltinFunctionType):  # some methods in C are of a class derived from that
        return (None if values.is_module(callback.__self__) else callback.__self__), callback, callback.__name__
    if values.exactly(callback, values.MethodType):
        return callback.__self__, callback.__func__, name_of(callback.__func__)
    return None, callback, ""


class _Asked:
    """Something that a loop has to do.

    Attributes:
        loop: refers to it weakly.
        own: the identity of the object whose method it calls.
        name: of that method.
        handle: refers weakly to what the loop keeps it in; None if that was not looked for yet.
        place: where it was asked for.
        access: what it does, without the thing itself.
        holder: the thing, in words.
    """

    __slots__ = ("access", "handle", "holder", "loop", "name", "own", "place")

    def __init__(self, loop: object, own: object, place: Place, access: Access, holder: Holder) -> None:
        self.loop, self.own, self.place = _Reference(loop), id(own), place
        self.name = access.detail.partition("(")[0]
        self.handle: Any = None
        self.access, self.holder = access, holder


class AskedOfLoops:
    """Knows what event loops have been asked to do, and have not done yet.

    Args:
        running: tells the thread that runs.
        identified: tells what holds the thing of an access: its number, and its type in words.
    """

    def __init__(self, running: Callable[[], ManagedThread], identified: Callable[[Access], Holder]) -> None:
        self._running, self._identified = running, identified
        self._asked: list[_Asked] = []

    def watch(self, access: Access, place: Place) -> None:
        """Note what an access asks a loop to do, if it does.

        Args:
            access: any, which is about to be made by the thread that runs.
            place: where.
        """
        if access.asks is None:
            return
        loop, own, detail = access.asks
        thread = self._running()
        later = Access(CALLS, access.sort, None, access.key, access.name)
        later.reads, later.writes = access.reads, True
        later.detail = f"{detail}, as thread {thread.name} has asked"
        later.asked = thread.name, thread.time
        self._asked.append(_Asked(loop, own, place, later, self._identified(access)))

    def done(self) -> list[Gone]:
        """What loops have done since the last call, as what has ended is told; see dying.py."""
        if not self._asked:
            return []
        asked, self._asked = self._asked, []
        done: list[Gone] = []
        for one in asked:
            state = self._state_of(one)
            if state is None:
                self._asked.append(one)
            elif state:
                line = line_of(one.place)
                way: Way = [(one.place.code, -1 - line, line)]
                done.append((self._running(), way, one.place, one.access, _UNKNOWN, one.holder))
        return done

    def _state_of(self, one: _Asked) -> bool | None:
        """Whether something was done; None if it is still to be done."""
        kept = list(_kept_by(one.loop()))
        if one.handle is None:
            known = [id(other.handle()) for other in self._asked if other.handle is not None]
            new = (each for each in kept if id(each) not in known and _calls(each, one))
            found = next(new, None)
            one.handle = None if found is None else _Reference(found)
            return False if found is None else None
        handle = one.handle()
        if handle is not None and handle._cancelled:
            return False
        return None if any(each is handle for each in kept) else True


def _calls(handle: Any, one: _Asked) -> bool:
    own, _, name = _method(_unwrapped(handle._callback)[0])
    return id(own) == one.own and name == one.name


def _kept_by(loop: object) -> Iterator[Any]:
    """What a loop has still to do."""
    for name in ("_ready", "_scheduled"):
        kept: Any = (values.own_values(loop) or {}).get(name)
        if values.exactly(kept, deque, list):
            yield from (one for one in kept if values.module_name(type(one)) == _HANDLES)

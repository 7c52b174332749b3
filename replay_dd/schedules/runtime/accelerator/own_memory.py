"""The addresses of the program's objects: nothing but what the program itself allocates and frees moves them.

A program may iterate over a set of objects, and so depend on their addresses. A strategy that draws its choices and a
replay that looks them up create and free different objects at different times. And before the program begins, the
interpreter allocates what depends on the environment, on paths, and on what stands in folders.

Rules of this module:

* Whatever depends on the strategy, the request or real time happens in the runtime's *turn*. A turn belongs to the
  process, not to a thread, as only one runs; whoever gets the baton begins one. So does what depends on files that are
  no part of the program: listing folders, compiling or loading modules.
* What is created in the runtime's turn may be freed in the program's, unless its type has a free list: a freed tuple,
  list, dictionary or float would be reused by the program.
* Where the program begins, where it loads modules with tests, and where it begins its first test and its first thread,
  it gets memory that was never used before.
* This module is the only door to the part in C. Without that part, or if it does not know the interpreter, there is one
  memory, and addresses depend on all of that.
"""

from __future__ import annotations

import _frozen_importlib
import sys

from . import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Where the program begins anew: before its first line; before it loads a module with tests; before it sets its first
# test up, and calls it; before it starts its first thread.
PROGRAM, A_MODULE, FIRST_SETUP, FIRST_TEST, FIRST_THREAD = range(5)
_IMPORT_SYSTEM = ("_frozen_importlib", "_frozen_importlib_external", "zipimport")
_MOST_ATTRIBUTES = 30  # that an instance has room for in itself (SHARED_KEYS_MAX_SIZE in dictobject.c)
_RUNTIME = __name__.rpartition(".accelerator.")[0] + "."  # what the names of the runtime's modules begin with

_bootstrap: Any = _frozen_importlib
# Begins the turn of the runtime (True) or of the program (False); returns whose it was. Not a decorator or
# context manager, as these create objects before the turn begins; and without turns not a function in Python, which
# tracing slows down.
use_own: Any = bool if accelerator is None else accelerator.use_own_memory


def keep_apart() -> bool:
    """Give the runtime memory of its own; False if that is impossible."""
    return accelerator is not None and accelerator.keep_memory_apart()


def begin_anew(where: int) -> None:
    """Let the program find unused memory and empty free lists from now on; call it in the runtime's turn.

    Args:
        where: it stands: PROGRAM, A_MODULE, FIRST_SETUP, FIRST_TEST or FIRST_THREAD.
    """
    if accelerator is not None:
        accelerator.begin_memory_anew(where)


def in_own_turn(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does the same in the runtime's turn.

    It must not execute code of the program, nor return what has a free list. It is called again in the program's turn
    if it raises, as exceptions contain such objects.
    """

    def do_in_own_turn(*arguments: Any) -> Any:
        before = use_own(True)
        try:
            result = function(*arguments)
        except Exception:
            use_own(before)
        else:
            use_own(before)
            return result
        return function(*arguments)

    return do_in_own_turn


def hides_own(find: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """A function that finds objects for the program, such as ``gc.get_objects``, and leaves out the runtime's."""
    if accelerator is None:
        return find
    without_own = accelerator.without_own

    def found(*arguments: Any, **named: Any) -> list[Any]:
        before = use_own(True)  # how much room they take depends on the runtime
        try:
            own = without_own(find(*arguments, **named))
        except Exception:
            use_own(before)
            return find(*arguments, **named)  # which raises once more, as the program's
        use_own(before)
        kept: list[Any] = own[:]
        use_own(True)
        del own
        use_own(before)
        return kept

    return found


def settle() -> None:
    """Do now what the interpreter would otherwise do at the first use of a class, which not every strategy makes.

    It numbers classes at their first use, and its cache of attributes, where it puts them by number, keeps the last
    reference to some names. What has gathered there is dropped. Python 3.11 makes the names of the arguments of its own
    functions when one is first called with a name.
    """
    [0].sort(key=None)
    list(settle.__code__.co_positions())
    settle_imports()
    for name, module in list(sys.modules.items()):
        if name.startswith(_RUNTIME):
            for value in list(vars(module).values()):
                if isinstance(value, type):
                    getattr(value, "__init__")
    if accelerator is not None:
        accelerator.forget_names()


def settle_imports() -> None:
    """Let the import system forget how much it has done so far, which depends on folders and on the request.

    Each of the first instances of a class has room for one attribute less than the one before. And a dictionary gets
    another table after so many additions, also if everything has been removed again.
    """
    for name in _IMPORT_SYSTEM:
        for value in list(vars(sys.modules[name]).values()) if name in sys.modules else ():
            make: Any = getattr(value, "__new__", None)
            if make is object.__new__ and isinstance(value, type):
                for _ in range(_MOST_ATTRIBUTES):
                    object.__new__(value)
    blocking = _bootstrap._blocking_on
    for table in (_bootstrap._module_locks, getattr(blocking, "data", blocking)):  # a dictionary itself in 3.11
        kept = list(table.items())
        table.clear()
        for key, value in kept:
            table[key] = value

"""The runtime's own memory: nothing it does moves an object of the program to another address.

A program may iterate over a set of objects, and so depend on their addresses. A strategy that draws its choices and a
replay that looks them up create and free different objects at different times; in shared memory, everything that the
program creates from then on would be at other addresses.

Rules of this module:

* Whatever depends on the strategy, the request or real time happens in the runtime's *turn*. A turn belongs to the
  process, not to a thread, as only one runs; whoever gets the baton begins one.
* What is created in the runtime's turn may be freed in the program's, unless its type has a free list: a freed tuple,
  list, dictionary or float would be reused by the program.
* This module is the only door to the part in C. Without that part, or if it does not know the interpreter, there is one
  memory, and addresses depend on the strategy.
"""

from __future__ import annotations

import sys

from . import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


_RUNTIME = __name__.rpartition(".accelerator.")[0] + "."  # what the names of the runtime's modules begin with

# Begins the turn of the runtime (True) or of the program (False); returns whose it was. Not a decorator or
# context manager, as these create objects before the turn begins; and without turns not a function in Python, which
# tracing slows down.
use_own: Any = bool if accelerator is None else accelerator.use_own_memory


def keep_apart() -> bool:
    """Give the runtime memory of its own; False if that is impossible."""
    return accelerator is not None and accelerator.keep_memory_apart()


def settle() -> None:
    """Do now what the interpreter would otherwise do at the first use of a class, which not every strategy makes.

    It numbers classes at their first use, and its cache of attributes, where it puts them by number, keeps the last
    reference to some names. What has gathered there is dropped. Python 3.11 makes the names of the arguments of its own
    functions when one is first called with a name.
    """
    [0].sort(key=None)
    for name, module in list(sys.modules.items()):
        if name.startswith(_RUNTIME):
            for value in list(vars(module).values()):
                if isinstance(value, type):
                    getattr(value, "__init__")
    if accelerator is not None:
        accelerator.forget_names()

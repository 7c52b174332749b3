"""The runtime's own memory: what it does moves no object of the program to another address.

A program may iterate over a set of objects, and so follow their addresses. A strategy that draws its choices and the
replay that looks them up make and free other objects, at other moments; in one memory, all that the program makes from
then on would stand elsewhere.

Rules of this module:

* What depends on the strategy, the request or real time happens in the runtime's *turn*. A turn belongs to the process,
  not to a thread, as only one runs; whoever gets the baton begins one.
* What is made in the runtime's turn may be freed in the program's, unless the interpreter keeps what is freed for the
  next one to be made: a tuple, list, dictionary or float would come into the hands of the program.
* Without the accelerator, or where it does not know this interpreter, there is one memory, and addresses follow the
  strategy.
"""

from __future__ import annotations

import sys

from . import accelerator

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


_RUNTIME = __name__.rpartition(".accelerator.")[0] + "."  # what the names of the runtime's modules begin with

# Begins the turn of the runtime (True) or of the program (False); tells whose it was. No decorator or context manager,
# as these make objects before the turn begins; and where there are no turns no function in Python, which tracing slows.
use_own: Any = bool if accelerator is None else accelerator.use_own_memory


def keep_apart() -> bool:
    """Give the runtime a memory of its own; False where that cannot be."""
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

"""The number of this process, as the program knows it: in copies made by the fork server, that of the server.

Programs note their number when they are loaded, and compare it later to see whether they were forked. A copy is not
such a fork: it goes on as the program that it was copied from, under the number that this has been told. If it has not
asked for it yet, it is told the real one: programs give files names with it.
"""

from __future__ import annotations

import os

from ..accelerator.library_entropy import seed_process

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Taken before the runtime puts its own in place.
real_getpid = os.getpid

# Functions whose first argument is the number of a process.
_ABOUT_A_PROCESS = ("getpgid", "getsid", "killpg", "pidfd_open", "sched_getaffinity", "sched_setaffinity", "setpgid")


class ProcessNumber:
    """What the program is told of its own number.

    Attributes:
        is_copy: whether this process is a copy that the fork server has made.
        told: the number.
    """

    def __init__(self) -> None:
        self.is_copy = False
        self._was_told = False
        self.told = self._real = real_getpid()

    def new_process(self) -> None:
        """This is a copy made by the fork server, with a run of its own."""
        self.is_copy = True
        self._real = real_getpid()
        if not self._was_told:
            self.told = self._real
        seed_process()

    def is_own(self) -> bool:
        """Whether this is the process that runs the program, or a copy of it, and not one that the program forked."""
        return real_getpid() == self._real

    def replacements(self) -> dict[str, Any]:
        """The functions of ``os`` that tell or take the number of a process, but for ``kill``."""
        named = {name: self.taking(getattr(os, name)) for name in _ABOUT_A_PROCESS if hasattr(os, name)}
        return {"getpid": self.getpid, **named}

    def getpid(self) -> int:
        """Stands in for ``os.getpid``."""
        self._was_told = True
        number = real_getpid()
        return self.told if number == self._real else number

    def taking(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """This function, for the real number of this process where the program gives the one it was told."""

        def call(process: Any, /, *arguments: Any) -> Any:
            return real(self._real if process == self.told else process, *arguments)

        call.__name__ = call.__qualname__ = real.__name__
        return call

"""Where a process stops to be copied that could not be copied at its first thread: before it has what copies share.

Rules of this module:

* Up to its first thread, the program comes by occasions: it is about to make a socket, to open a file for writing, or
  to get something else that copies might share. They are counted, and the last one is remembered at which it had
  nothing of that kind. The first occasion is before the program's first line.
* A process that cannot be copied at its first thread tells that number. Another process that is given it stops there,
  and each copy gets a socket, a file ... of its own.
* What a copy changes may have decided what the process did before it stopped. So copies tell the files that they change
  outside their temporary folder, whether each was there before, and whether the process had read it. The tool starts
  another process where that makes a difference.
* Occasions are the same in every run. To keep bytecode, which only the first run of a program does, is none.
"""

from __future__ import annotations

from ..accelerator.own_memory import use_own
from ..observing import absolute
from .shared_things import ABOUT_FILES, changes, keeps_bytecode, path_in_words

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_OCCASIONS = 200  # at which is looked: each takes as long as to list the open files
_MAKES = frozenset({"socket.__new__", "socket.bind", "socket.connect", "mmap.__new__", "subprocess.Popen", "os.system"})
OCCASIONS = _MAKES | ABOUT_FILES


class EarlyStop:
    """Counts the occasions of this process, and stops at one of them.

    Args:
        number: the occasion to stop at; 0 for none.
        paths: files before whose first reading to stop.
        harmless: files that copies of the process may share.
        why_not_to_copy: why copies would disturb each other if the process were copied now, or nothing.
        stop: waits for runs, and goes on in copies of the process.

    Attributes:
        last: the number of the last occasion at which the process had nothing that copies would share; 0 for none.
        has_stopped: whether this process has stopped at an occasion, or is a copy of one that has.
    """

    def __init__(
        self,
        number: int,
        paths: list[str],
        harmless: set[str],
        why_not_to_copy: Callable[[], str],
        stop: Callable[[], None],
    ) -> None:
        self.last = 0
        self.has_stopped = False
        self._stop_at = number
        self._paths = frozenset(paths)
        self._harmless = harmless
        self._why_not_to_copy = why_not_to_copy
        self._stop = stop
        self._number = 0
        self._read: set[str] = set()
        self._is_over = False

    def end(self) -> None:
        """There are no more occasions: the first thread is about to start, or tests of a suite are."""
        self._is_over = True

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """Look at an audit event."""
        if self._is_over or event not in OCCASIONS:
            return
        before = use_own(True)
        if self._is_harmless(event, arguments):
            pass
        elif event in _MAKES or changes(event, arguments):
            self.occasion()
        elif self._stop_at:
            self._reads(absolute(path_in_words(arguments[0])))
        use_own(before)

    def was_read(self, path: str) -> bool:
        """Whether a file, given by its absolute path, was read before the process stopped."""
        return path in self._read

    def _reads(self, path: str) -> None:
        if path in self._paths and not self._why_not():
            self._stop_now()
        else:
            self._read.add(path)

    def _is_harmless(self, event: str, arguments: tuple[object, ...]) -> bool:
        return keeps_bytecode(event, arguments) or path_in_words(arguments[0]) in self._harmless

    def occasion(self) -> None:
        """The program is about to get what copies might share."""
        if self._is_over or self._number == _MOST_OCCASIONS:
            return
        self._number += 1
        before = use_own(True)
        if not self._why_not():
            self.last = self._number
            if self._number == self._stop_at:
                self._stop_now()
        use_own(before)

    def _why_not(self) -> str:
        self._is_over = True  # whoever looks makes events, too
        reason = self._why_not_to_copy()
        self._is_over = False
        return reason

    def _stop_now(self) -> None:
        self._is_over = self.has_stopped = True
        self._stop()

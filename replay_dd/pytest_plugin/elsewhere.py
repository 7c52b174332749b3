"""A log of a test as if it had been recorded here: from the folder where this pytest was started, in this checkout.

Files of the program are known by their names as seen from the folder in which it ran. Folders are matched by the root
of the tests: the option ``--rootdir`` of the log's command tells where that was.
"""

from __future__ import annotations

import os
from dataclasses import replace

from replay_dd.schedules.model import Frame, Log, Place, Program, UncaughtException

_ROOT = "--rootdir="


def as_if_here(log: Log, program: Program, root: str) -> Log:
    """The log with the names that files have here.

    Args:
        log: of a test.
        program: runs that test here.
        root: the root of the tests here.
    """
    return _Here(log, program, root).log()


def same_folder(log: Log, program: Program) -> bool:
    """Whether files have the same names as in the log."""
    return log.program.directory == program.directory


class _Here:
    def __init__(self, log: Log, program: Program, root: str) -> None:
        self._log = log
        self._program = program
        self._root = root
        given = next((word.removeprefix(_ROOT) for word in log.program.command if word.startswith(_ROOT)), ".")
        self._old_root = os.path.normpath(os.path.join(log.program.directory, given))

    def log(self) -> Log:
        switches = tuple(
            switch if switch.place is None else replace(switch, place=self._place(switch.place))
            for switch in self._log.switches
        )
        ending = self._log.ending
        exceptions = tuple(map(self._exception, ending.exceptions))
        waiters = tuple(replace(one, frames=tuple(map(self._frame, one.frames))) for one in ending.deadlock)
        return replace(
            self._log,
            program=self._program,
            switches=switches,
            ending=replace(
                ending,
                exceptions=exceptions,
                exit=ending.exit and self._exception(ending.exit),
                deadlock=waiters,
            ),
        )

    def _exception(self, exception: UncaughtException) -> UncaughtException:
        return replace(exception, frames=tuple(map(self._frame, exception.frames)))

    def _frame(self, frame: Frame) -> Frame:
        path = self._path(os.path.normpath(os.path.join(self._log.program.directory, frame.file)))
        return replace(frame, file=self._name(path)) if path else frame

    def _place(self, place: Place) -> Place:
        path = self._path(place.path)
        return replace(place, file=self._name(path), path=path) if path else place

    def _path(self, old: str) -> str:
        """Where a file below the old root is now; empty for any other file, or if there is none."""
        if not old.startswith(self._old_root + os.sep):
            return ""
        new = os.path.join(self._root, os.path.relpath(old, self._old_root))
        return new if os.path.exists(new) else ""

    def _name(self, path: str) -> str:
        folder = self._program.directory + os.sep
        return path.removeprefix(folder)

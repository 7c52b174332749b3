"""What the target process tells the tool, written immediately.

Records are tuples of plain values, marshalled one after the other into one file. A record is complete or absent: when
the process is killed, what was written before stays readable. The names of records are constants of this module; the
tool reads them with the same module.

Where there is no room for a record, none follows, and the file is marked as cut off by its permissions, which need no
room. The program is not disturbed by that.
"""

from __future__ import annotations

import errno
import marshal
import os

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any

HELLO = "hello"  # version of the interpreter, its executable, back end and why, whether it has a hash seed, process id
THREAD = "thread"  # path, place
PLACE = (
    # number, short file, file, line, column, function, instruction, reachable under the GIL, key, only after C,
    # at an operation
    "place"
)
SWITCH = (
    # path, time, to, forced, by default, place, global time, digest, visit, ended, what it ends: () or (whether that is
    # a time-out and not a sleep, place, how early in nanoseconds), whether it is a garbage collection
    "switch"
)
TOUCH = "touch"  # path, time, global time, place number, object, what of it, changes, locks held
UNTOUCHED = "untouched"  # key of a place where a thread touched nothing; not told by short runs
LOCK = "(lock)"  # what of an object is touched by taking a lock: no attribute has that name
ALTERNATIVE = (
    # path, time, global time, to, whether one had to: another thread could go on here, where one had to or at first
    "alternative"
)
DRAWN = "drawn"  # path, of which paths: a draw of the strategy ``uniform``
SKIPPED = "skipped"  # path, time, to: a trigger whose target could not run
EXCEPTION = "exception"  # where ("main" or a thread path), type, message, frames
EXIT = "exit"  # who ended the program, by what (a type of `SystemExit`, or ``os._exit``), message, frames
DEADLOCK = "deadlock"  # of each thread: path, what it waits for, frames
HANG = "hang"  # why, whether the history was kept, threads, things, steps; stacks; files counted: see hangs/telling.py
ARRIVAL = (
    # path, number of its wait, who ran at that moment, its time, answer; where that concerns one descriptor, FROM or TO
    # and its number, in one text; where a time-out ended it, AT and the line of the program; see moments.py
    "arrival"
)
FROM, TO, AT = "from", "to", "at"
DUE = "due"  # who ran, its time, the path whose deadline had passed by then
PASSED = "passed"  # path, number of its wait: for how many nanoseconds nobody could run until that was over
SIGNAL = (
    "signal"  # who ran, its time: number of a signal from outside, for how many nanoseconds nobody could run before
)
ACCESS = (
    # number, path, time, global time, place number, stack number, what it does, sort, number and type of what holds it,
    # key, name, reads, writes, old value, new value, detail, tested, locks held, number of the task or 0; see
    # accesses/observer.py
    "access"
)
OBSERVING = "observing"  # whether operands can be read from the stack
AFTER = "after"  # number of an access, the value that it left, whether it changed what cannot tell otherwise
SWITCH_STACK = "switch stack"  # path, time, stack number: where a thread of an observed run stood at its switch
STARTED = "started"  # path, stack number: from where a thread of an observed run was started
FLOW_CODE = "flow code"  # number, short file, file, function, parameters, how many by position, its instructions
FLOW = "flow"  # of each: path, time at a yield point or 0, frame, number of its code, which instruction, operands
STACK = "stack"  # number, frames: short file, file, line, function, counted
LOCK_NAME = "lock name"  # number, name
TRACED = "traced"  # path, place: a yield point of a run whose whole way is told
EXECUTED = (
    # path, time, global time, place number, frame, which instruction of its function, how it checks, whether it
    # touches what other threads see, whether it is a yield point; see backends/executed.py
    "executed"
)
CALLED = "called"  # path, frame, whether the call that has just begun checks when it is over
NOTE = "note"  # kind, text
UNLIKE = "the recorded run "  # what the text begins with that tells how the world is not the recorded one
FORKED = "the program forked; only its first process is under control"
STOPPED = "stopped"  # the kind of a note: the run was given up, as it cannot be the recorded one
# The kinds of notes on what runs at the same time would fight over: in the working directory, or anywhere else.
WRITES, EXCLUSIVE = SHARED = ("writes", "exclusive")
# The kind of a note on a file that the run changes, where it was copied before its first thread: path, whether it was
# there, whether it had been read by then.
CHANGED = "changed"
WRITTEN = "written"  # pages of memory, for the process that copies are made of and not for the tool; see copies.py
END = "end"  # global time, digest, thread times, files counted

# What a process tells first that waits to be copied: why it cannot be, and where it could have been instead.
READY, REFUSED = "ready", "refused"

FILE = "channel"  # its name in the folder of a run
MARSHAL_VERSION = 2
real_write, _stat, _fstat = os.write, os.stat, os.fstat  # before the runtime puts its own in place
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MAY_BE_WRITTEN = 0o200
_HIGH_DESCRIPTOR = 250


class Channel:
    """The writing end of the file between target and tool."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.descriptor = -1
        self._sent: list[bytes] | None = []
        self._is_cut_off = False
        self._open()

    def go_on_in(self, path: str, descriptor: int) -> None:
        """Write to another file from now on, and there all that was said before.

        Args:
            path: where to go on if the program closes the descriptor.
            descriptor: the file.
        """
        before, self._path = self.descriptor, path
        self._take(descriptor)
        if self.descriptor != before:  # fewer descriptors are allowed here
            _close(before)
        self._write(b"".join(self._sent or []))

    def forget(self) -> None:
        """No longer keep what is said, as it will not be wanted in another file."""
        self._sent = None

    def _open(self) -> None:
        self._take(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT))

    def _take(self, descriptor: int) -> None:
        try:
            # Far above what programs use, so that they get the descriptor numbers they would get without us.
            self.descriptor = os.dup2(descriptor, _HIGH_DESCRIPTOR, inheritable=False)
            os.close(descriptor)
        except OSError:
            self.descriptor = descriptor

    def send(self, *record: Any) -> None:
        """Write one record of plain values."""
        data = marshal.dumps(record, MARSHAL_VERSION)
        if self._sent is not None:
            self._sent.append(data)
        if not self._is_cut_off:
            self._write(data)

    def _write(self, data: bytes) -> None:
        try:
            written = _written(self.descriptor, data)
        except OSError:
            # Programs that turn into daemons close every descriptor.
            self._open()
            written = _written(self.descriptor, data)
        if written < len(data):
            self._is_cut_off = True
            os.chmod(self.descriptor, _fstat(self.descriptor).st_mode & ~_MAY_BE_WRITTEN)


def _written(descriptor: int, data: bytes) -> int:
    """Write as many of the bytes as there is room for; returns how many that are."""
    try:
        return real_write(descriptor, data)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        return 0


def is_cut_off(file: int | str) -> bool:
    """Whether there was no room for all that was told in a file.

    Args:
        file: its path or descriptor.
    """
    return not _stat(file).st_mode & _MAY_BE_WRITTEN


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        pass  # the program has closed it


def read_records(path: str) -> list[tuple[object, ...]]:
    """All complete records of a channel file, in order; a half-written last one is left out."""
    with open(path, "rb") as file:
        return records_in(file.read())


def records_in(data: bytes) -> list[tuple[object, ...]]:
    """The same of what such a file contains."""
    records: list[tuple[object, ...]] = []
    left = memoryview(data)
    while True:
        try:
            record = marshal.loads(left)
        except (EOFError, ValueError, TypeError):
            return records
        records.append(record)
        # `marshal.load` would tell how far it came, but asks a file for each number of a record.
        left = left[len(marshal.dumps(record, MARSHAL_VERSION)) :]

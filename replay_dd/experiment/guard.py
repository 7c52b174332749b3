"""Ensures that nothing we started or created outlives us, even if we are killed (SIGKILL).

Rules of this module:

* The folders of all runs are in one folder of this process, its workplace, which also contains the TMPDIR of every
  program: given the workplace, the programs can be found wherever they have gone.
* A small separate process waits until a pipe from us closes, however we end, and then cleans up
  (:mod:`replay_dd.experiment.guard_process`). It starts before there is anything to clean up, and ends with us.
* The workplace is locked while we or our guard live: both have the descriptor of the lock. An unlocked one belonged to
  a process that ended together with its guard, as in a power failure. The next process to make a workplace beside it
  cleans it up.
* Names are used again. Whatever is removed by its path is compared with the locked descriptor before.
* The programs see nothing of this: no descriptor, no child, no variable.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from replay_dd.experiment.guard_process import MARKER, MARKER_TEXT, clean, remove_system_names, remove_tree
from replay_dd.experiment.room import temporary_directory

# The first name that is free, not a random one: programs see these paths, and may depend on them, as on the order of a
# set of strings.
_PREFIX = "replay-dd-"
_WORKPLACE = re.compile(rf"{_PREFIX}[0-9a-f]{{4}}")
_WORKPLACES = 0x10000
_FOLDERS = 1000  # at a time; their names have three digits
_HIGH_DESCRIPTOR = 100
# A shell waits: it starts in a fraction of the time, and uses a fraction of the memory, of Python.
_WAIT_THEN_RUN = 'trap "" INT TERM HUP QUIT; read -r _; exec "$@"'


class Workplace:
    """A folder of this process for the folders of runs, and the process that guards it.

    Args:
        beside: the folder in which it is made.

    Attributes:
        folders: those in it.
    """

    def __init__(self, beside: Path) -> None:
        self._path, self._locked = _make_workplace(beside)
        self.folders: set[Path] = set()
        self._pipe = -1
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def guarding_process(self) -> int:
        """The process id of the guard; 0 if there is none."""
        return 0 if self._process is None else self._process.pid

    def exists(self) -> bool:
        """Whether its folder still exists, and is not one that another process has made under its name."""
        return _is_at(self._path, self._locked)

    def make_folder(self) -> Path:
        """A new folder, guarded from the beginning."""
        if self._process is None or self._process.poll() is not None:
            self._start_guard()
        for number in range(_FOLDERS):
            folder = self._path / f"{number:03d}"
            # One that is just being removed keeps its name until that is done: else the new one would be removed, too.
            if folder in self.folders:
                continue
            with contextlib.suppress(FileExistsError):
                folder.mkdir(mode=0o700)
                self.folders.add(folder)
                return folder
        raise FileExistsError(f"{_FOLDERS} folders are in use in {self._path}")

    def close(self) -> None:
        """Remove it with its contents, and end the guard."""
        if self.exists():
            remove_tree(self._path)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.abandon()

    def abandon(self) -> None:
        """Leave it to its owner: this process is a fork of that one."""
        if self._process is not None and self._process.returncode is None:
            self._process.returncode = 0  # it is not our child
        for descriptor in (self._locked, self._pipe):
            if descriptor >= 0:
                os.close(descriptor)

    def _start_guard(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
        reading, writing = os.pipe()
        self._pipe = _to_high_number(writing)
        python = [sys.executable, "-I", "-S", str(Path(__file__).with_name("guard_process.py")), str(self._path)]
        shell = shutil.which("sh", path=os.defpath)
        # If no process can be started, the program cannot be started either, and that is reported.
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                python if shell is None else [shell, "-c", _WAIT_THEN_RUN, "replay-dd-guard", *python],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                pass_fds=(self._locked,),
                # Tools that end jobs by an environment variable must not end the guard.
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                start_new_session=True,
            )
        os.close(reading)


class Guard:
    """The workplaces of this process: one for each temporary directory currently in use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workplaces: dict[Path, Workplace] = {}
        self._holders = 0

    def make_folder(self, beside: Path | None = None) -> Path:
        """A new folder that is removed when we end.

        Args:
            beside: the directory of its workplace; by default that of all temporary files.
        """
        place = Path(temporary_directory()) if beside is None else beside
        with self._lock:
            workplace = self._workplaces.get(place)
            if workplace is None or not workplace.exists():
                if workplace is not None:
                    workplace.close()
                workplace = self._workplaces[place] = Workplace(place)
            return workplace.make_folder()

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder of ours, and its workplace if that is now empty and not held."""
        with self._lock:
            owner = next((workplace for workplace in self._workplaces.values() if folder in workplace.folders), None)
        if owner is not None:  # a fork of its owner has nothing to remove
            remove_system_names(folder)
            remove_tree(folder)
            with self._lock:
                owner.folders.discard(folder)
                self._close_empty()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep workplaces while more folders are to be made in them."""
        with self._lock:
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                self._close_empty()

    def processes(self) -> set[int]:
        """The process ids of the guards."""
        return {workplace.guarding_process for workplace in self._workplaces.values()}

    def close(self) -> None:
        """Remove all workplaces with their contents."""
        with self._lock:
            for workplace in self._workplaces.values():
                workplace.close()
            self._workplaces.clear()

    def after_fork(self) -> None:
        """Forget the workplaces: this process is a fork of their owner."""
        self._lock = threading.Lock()
        for workplace in self._workplaces.values():
            workplace.abandon()
        self._workplaces.clear()

    def _close_empty(self) -> None:
        for place, workplace in list(self._workplaces.items()):
            if not workplace.folders and not self._holders:
                del self._workplaces[place]
                workplace.close()


def _make_workplace(beside: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor that locks it; abandoned workplaces beside it are cleaned up."""
    _clean_up_abandoned(beside)
    number = -1
    while True:
        number = (number + 1) % _WORKPLACES
        path = beside / f"{_PREFIX}{number:04x}"
        try:
            path.mkdir(mode=0o700)
            descriptor = _to_high_number(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
        except FileExistsError:
            continue
        with contextlib.suppress(
            OSError
        ):  # a file system without locks: then nobody can mistake it for an abandoned one
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Last: without the marker, others leave it alone.
        (path / MARKER).write_text(MARKER_TEXT)
        return path, descriptor


def _clean_up_abandoned(beside: Path) -> None:
    """Clean up this user's unlocked workplaces."""
    for name in os.listdir(beside):
        if _WORKPLACE.fullmatch(name):
            # It may belong to another user, disappear at this moment, or not be a workplace at all.
            with contextlib.suppress(OSError):
                descriptor = os.open(beside / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    is_ours = os.fstat(descriptor).st_uid == os.geteuid()
                    if is_ours and (beside / name / MARKER).read_text() == MARKER_TEXT:
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        # Its owner may have removed it just now, and another process used its name again.
                        if _is_at(beside / name, descriptor):
                            clean(beside / name, numbers_hold=False)
                finally:
                    os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Whether an open folder is the one at this path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except OSError:
        return False


def _to_high_number(descriptor: int) -> int:
    """Move a descriptor to a high number, so that programs we pass descriptors to get the usual numbers."""
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    except OSError:  # above the limit of this process
        return descriptor
    os.close(descriptor)
    return high


GUARD = Guard()
atexit.register(GUARD.close)
os.register_at_fork(after_in_child=GUARD.after_fork)

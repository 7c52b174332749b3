"""Sees to it that what we started and made ends with us, even if we are killed at once (SIGKILL).

Rules of this module:

* The folders of all runs lie in one folder of this process, its workplace, and every program has its TMPDIR in there:
  who knows the workplace finds the programs, wherever they have gone.
* A small process of its own waits until a pipe from us ends, however we ended. Then it cleans up
  (:mod:`replay_dd.experiment.guard_process`). It is there before there is anything to clean up, and ends with us.
* The workplace is locked for as long as we live. One that nobody locks is of a process that ended together with its
  guard, as when the power goes. It is cleaned up by the next process that makes a workplace beside it.
* The programs see nothing of all this: no descriptor, no child, no variable.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from replay_dd.experiment.guard_process import MARKER, MARKER_TEXT, clean, remove_system_names, remove_tree

# A workplace, with the name of a folder in it, is as long as the names that `tempfile` makes: paths in the environment
# of a program move its memory, and programs in whose memory things have moved may take another way.
_PREFIX = "replay-dd-"
_WORKPLACE = re.compile(rf"{_PREFIX}[0-9a-f]{{4}}")
_FOLDERS = 1000  # at the same time; their names have three digits
_HIGH_DESCRIPTOR = 100
# A shell waits, as it starts in a fraction of the time and takes a fraction of the memory that Python does.
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
        self._numbers = itertools.count()
        self._pipe = -1
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def guarding_process(self) -> int:
        """The number of the guarding process; 0 if there is none."""
        return 0 if self._process is None else self._process.pid

    def is_there(self) -> bool:
        """Whether nobody has removed it."""
        return self._path.is_dir()

    def make_folder(self) -> Path:
        """A new folder, guarded from the beginning."""
        if self._process is None or self._process.poll() is not None:
            self._start_guard()
        for number in itertools.islice(self._numbers, _FOLDERS):
            with contextlib.suppress(FileExistsError):
                folder = self._path / f"{number % _FOLDERS:03d}"
                folder.mkdir(mode=0o700)
                self.folders.add(folder)
                return folder
        raise FileExistsError(f"{_FOLDERS} folders are in use in {self._path}")

    def close(self) -> None:
        """Remove it with all that is in it, and end the guarding process."""
        remove_tree(self._path)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.let_go()

    def let_go(self) -> None:
        """Leave it to another process: this one is a forked copy of the one that it belongs to."""
        if self._process is not None and self._process.returncode is None:
            self._process.returncode = 0  # it is no child of ours
        for descriptor in (self._locked, self._pipe):
            if descriptor >= 0:
                os.close(descriptor)

    def _start_guard(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
        reading, writing = os.pipe()
        self._pipe = _out_of_the_way(writing)
        python = [sys.executable, "-I", "-S", str(Path(__file__).with_name("guard_process.py")), str(self._path)]
        shell = shutil.which("sh", path=os.defpath)
        # Where no process can be started, the program cannot be started either, and that is told.
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(
                python if shell is None else [shell, "-c", _WAIT_THEN_RUN, "replay-dd-guard", *python],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                # What ends jobs by a variable in their environment must not end the guard.
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                start_new_session=True,
            )
        os.close(reading)


class Guard:
    """The workplaces of this process: one for each place for temporary files that it uses just now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workplaces: dict[Path, Workplace] = {}
        self._holders = 0

    def make_folder(self, beside: Path | None = None) -> Path:
        """A new folder that goes with us.

        Args:
            beside: where its workplace is; by default where all temporary files are.
        """
        place = Path(tempfile.gettempdir()) if beside is None else beside
        with self._lock:
            workplace = self._workplaces.get(place)
            if workplace is None or not workplace.is_there():
                if workplace is not None:
                    workplace.close()
                workplace = self._workplaces[place] = Workplace(place)
            return workplace.make_folder()

    def remove_folder(self, folder: Path) -> None:
        """Remove a folder of ours, and its workplace if it was the last one in it and nobody holds that."""
        with self._lock:
            owner = next((workplace for workplace in self._workplaces.values() if folder in workplace.folders), None)
        if owner is not None:  # a forked copy of the process that it belongs to has nothing to remove
            remove_system_names(folder)
            remove_tree(folder)
            with self._lock:
                owner.folders.discard(folder)
                self._close_empty()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Workplaces stay, as more folders will be made in them."""
        with self._lock:
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                self._close_empty()

    def processes(self) -> set[int]:
        """The numbers of the guarding processes."""
        return {workplace.guarding_process for workplace in self._workplaces.values()}

    def close(self) -> None:
        """Remove all workplaces with all that is in them."""
        with self._lock:
            for workplace in self._workplaces.values():
                workplace.close()
            self._workplaces.clear()

    def forked(self) -> None:
        """This is a forked copy of the process that the workplaces belong to."""
        self._lock = threading.Lock()
        for workplace in self._workplaces.values():
            workplace.let_go()
        self._workplaces.clear()

    def _close_empty(self) -> None:
        for place, workplace in list(self._workplaces.items()):
            if not workplace.folders and not self._holders:
                del self._workplaces[place]
                workplace.close()


def _make_workplace(beside: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor that locks it; folders of the dead beside it are cleaned up."""
    _clean_up_after_the_dead(beside)
    while True:
        path = beside / f"{_PREFIX}{os.urandom(2).hex()}"
        try:
            path.mkdir(mode=0o700)
            descriptor = _out_of_the_way(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
        except FileExistsError:
            continue
        with contextlib.suppress(OSError):  # a file system without locks: nobody can take it for one of the dead
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Only now: without the marker, others leave it alone.
        (path / MARKER).write_text(MARKER_TEXT)
        return path, descriptor


def _clean_up_after_the_dead(beside: Path) -> None:
    """Clean up workplaces of ours that nobody locks."""
    for name in os.listdir(beside):
        if _WORKPLACE.fullmatch(name):
            # It may have another owner, or go just now; and it may be none.
            with contextlib.suppress(OSError):
                descriptor = os.open(beside / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    is_ours = os.fstat(descriptor).st_uid == os.geteuid()
                    if is_ours and (beside / name / MARKER).read_text() == MARKER_TEXT:
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        clean(beside / name, numbers_hold=False)
                finally:
                    os.close(descriptor)


def _out_of_the_way(descriptor: int) -> int:
    """The same file under a high number, so that programs we give descriptors to get the numbers they would get."""
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    except OSError:  # more than this process may have
        return descriptor
    os.close(descriptor)
    return high


GUARD = Guard()
atexit.register(GUARD.close)
os.register_at_fork(after_in_child=GUARD.forked)

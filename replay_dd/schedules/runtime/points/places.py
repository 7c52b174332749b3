"""Places in the code: which are counted, how they are named, and the number each adds to the digest.

Code is one of three kinds, told by its file:

* COUNTED: the program's own code and third-party packages. Only here are yield points.
* LIBRARY: the standard library and this runtime. Looked through: an operation on a lock inside ``queue.Queue.put``
  belongs to the counted code that called ``put``.
* EXCLUDED: test runners. Operations that they cause are not the program's.
"""

from __future__ import annotations

import os
import sys
import time

from ..accelerator import accelerator
from ..accelerator.own_memory import use_own
from ..constants import LIBRARY_FILES, SPLITMIX_STEP
from ..counting.digest import MASK, text_hash
from .bytecode import alike
from .frames import RUNTIME

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType

COUNTED = 0
LIBRARY = LIBRARY_FILES
EXCLUDED = 2

TEST_RUNNERS = (
    "pytest",
    "_pytest",
    "pluggy",
    "py",
    "iniconfig",
    "nose2",
    "xdist",
    "execnet",
    "coverage",
    "pytest_timeout",
    # It calls tests as a runner does, with what it has drawn, and spends far more yield points on that than they do.
    "hypothesis",
    "_hypothesis_pytestplugin",
)


_TEMPORARY = "$TMPDIR" + os.sep  # this run's own folder
_COARSE_NS = 20_000_000  # file dates lag behind by at most this much
# Taken before the runtime puts its own in place.
_getpid, _date_ns, _join, _normpath, _stat = os.getpid, time.time_ns, os.path.join, os.path.normpath, os.stat
_dirname = os.path.dirname

_outside_library = None if accelerator is None else accelerator.outside_library


class Places:
    """Classifies files, names places, and numbers those that the log mentions.

    Args:
        root: the folder that short file names are relative to.
        include: packages counted although they are of the standard library or a test runner.
        exclude: packages not counted although they are of the program.
        command_line: whether the program is given on the command line (``-c``) and so has no file.

    Attributes:
        kinds: the kinds of files that were asked about.
        importing: the files of the import system.
        in_advance: what the yield points of some code add to the digest, by the identity of the code; see tables.py.
    """

    def __init__(self, root: str, include: tuple[str, ...], exclude: tuple[str, ...], command_line: bool) -> None:
        self._root = root
        self._include = include
        self._exclude = exclude
        self._command_line = command_line
        self._started_ns = _date_ns()
        self._library = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
        self._runtime = RUNTIME
        self._plugin = _join(_dirname(_dirname(RUNTIME.rstrip(os.sep))), "pytest_plugin") + os.sep
        # Known from the start: which of them run depends on the strategy, and the size of this table must not.
        self.kinds: dict[str, int] = dict.fromkeys(_files_of_the_runtime(), LIBRARY)
        self._counted: list[str] = []  # apart, as to walk through all kinds would touch most pages of a forked copy
        self._short: dict[str, str] = {}
        self.importing = {"<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>"}
        self._watched: set[int] | None = None
        self._hashes: dict[int, tuple[CodeType, int]] = {}
        self.in_advance: dict[int, tuple[CodeType, dict[int, int]]] = {}

    def kind(self, filename: str) -> int:
        """COUNTED, LIBRARY or EXCLUDED."""
        try:
            return self.kinds[filename]
        except KeyError:
            kind = self.kinds[filename] = self._classify(filename)
            if kind == COUNTED:
                self._counted.append(filename)
            return kind

    def counted_files(self) -> list[tuple[str, str]]:
        """(short name, file) of the files whose code was counted so far; without temporary files of the run."""
        files = [(self.short(name), name) for name in self._counted if name[:1] != "<"]
        return [(short, name) for short, name in files if not short.startswith(_TEMPORARY)]

    def unknown_packages(self) -> list[str]:
        """Packages to include or exclude that were not run and cannot be found either: misspelt ones."""
        unmet = [name for name in (*self._include, *self._exclude) if name not in sys.modules]
        if not unmet:
            return []
        met = [self._module(self._absolute(filename)) for filename in self.kinds if filename[:1] != "<"]
        return [name for name in unmet if not any(_within(module, (name,)) for module in met) and not _is_there(name)]

    def _classify(self, filename: str) -> int:
        if filename.startswith("<"):
            # Python itself gives these names to the text after `-c`, and to what it reads from standard input.
            is_program = filename == "<stdin>" or (self._command_line and filename == "<string>")
            return COUNTED if is_program else LIBRARY
        path = self._absolute(filename)
        module = self._module(path)
        if _within(module, self._exclude):
            return EXCLUDED
        if path.startswith(self._runtime):
            return LIBRARY
        if path.startswith(self._plugin):
            return EXCLUDED  # a part of the test runner
        if _within(module, self._include):
            return COUNTED
        if path.startswith(self._library) and not _in_site_packages(path):
            return LIBRARY
        if _in_site_packages(path) and module.split(".")[0] in TEST_RUNNERS:
            return EXCLUDED
        return COUNTED

    def _absolute(self, path: str) -> str:
        """As it was when the program began, wherever it has gone since."""
        return _normpath(_join(self._root, path))

    def _module(self, path: str) -> str:
        best = ""
        for entry in [*sys.path, self._root, self._library]:
            folder = self._absolute(entry) + os.sep
            if path.startswith(folder) and len(folder) > len(best):
                best = folder
        stem = os.path.splitext(path[len(best) :])[0]
        return stem.replace(os.sep, ".").removesuffix(".__init__")

    def short(self, filename: str) -> str:
        """A file's name that does not depend on where the project or the environment is."""
        try:
            return self._short[filename]
        except KeyError:
            short = self._shorten(filename)
            number = str(_getpid())
            if number in short and self._made_by_this_run(filename):
                short = _without(short, number)
            self._short[filename] = short
            return short

    def _made_by_this_run(self, filename: str) -> bool:
        """Whether a file is so new that this process's id in its name is no coincidence."""
        try:
            return _stat(filename).st_ctime_ns >= self._started_ns - _COARSE_NS
        except FileNotFoundError:
            return True  # it existed when it was imported
        except (OSError, ValueError):
            return False

    def _shorten(self, filename: str) -> str:
        if filename.startswith("<"):
            return filename
        path = self._absolute(filename)
        for marker in (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep):
            _, found, tail = path.partition(marker)
            if found:
                return tail
        if path.startswith(self._root + os.sep):
            return path[len(self._root) + 1 :]
        if path.startswith(self._library):
            return path[len(self._library) :]
        temporary = os.environ.get("TMPDIR", "") + os.sep
        if temporary != os.sep and path.startswith(temporary):
            return _TEMPORARY + path[len(temporary) :]
        return path

    def code_hash(self, code: CodeType) -> int:
        """The hash that a code object's places start from, the same in every process."""
        known = self._hashes.get(id(code))
        if known is not None:
            return known[1]
        value = text_hash(f"{self.short(code.co_filename)}:{code.co_firstlineno}:{code.co_qualname}")
        # The code object is kept, so that its identity is not given to another one.
        self._hashes[id(code)] = (code, value)
        before = use_own(True)
        _ = code.co_code  # it is kept by the code object: whoever asks first makes it, in runs that watch places or not
        if self._watched is not None:
            self._watch_alike(code)
        use_own(before)
        return value

    def watch(self, numbers: Iterable[int]) -> set[int]:
        """The numbers of places whose visits are to be counted: these, and those of places like them."""
        self._watched = set(numbers)
        for code, _ in list(self._hashes.values()):
            self._watch_alike(code)
        return self._watched

    def _watch_alike(self, code: CodeType) -> None:
        assert self._watched is not None
        for mark in range(len(code.co_code)):  # odd ones are those of operations
            if self.place_hash(code, mark) in self._watched:
                offset, more = mark & ~1, mark & 1
                self._watched.update([self.place_hash(code, one + more) for one in alike(code, offset)])

    def place_hash(self, code: CodeType, position: int) -> int:
        """The number that one place adds to the digest, never 0; ``position`` is a byte offset or a line."""
        return (self.code_hash(code) + position * SPLITMIX_STEP) & MASK or 1

    def place_hashes(self, code: CodeType, positions: Iterable[int]) -> dict[int, int]:
        """The same for many places of one code object, by their positions."""
        first = self.code_hash(code)
        return {position: (first + position * SPLITMIX_STEP) & MASK or 1 for position in positions}

    def user_frame(self, frame: FrameType | None) -> tuple[bool, FrameType | None]:
        """Who performs an operation: (counted, the innermost frame outside the library)."""
        kinds = self.kinds
        if _outside_library is not None and frame is not None:
            frame = _outside_library(kinds, frame)  # where nearly all of a long stack is left out
        while frame is not None:
            filename = frame.f_code.co_filename
            kind = kinds[filename] if filename in kinds else self.kind(filename)  # without a call for each frame
            if kind == COUNTED:
                return True, frame
            if kind == EXCLUDED:
                return False, frame
            frame = frame.f_back
        return False, None

    def line_of_program(self, frame: FrameType | None) -> str:
        """The innermost line outside the library, such as ``prog.py:12``; empty if there is none."""
        _, found = self.user_frame(frame)
        return "" if found is None else f"{self.short(found.f_code.co_filename)}:{found.f_lineno}"


def _files_of_the_runtime() -> list[str]:
    package = __name__.rpartition(".points.")[0] + "."
    modules = [module for name, module in list(sys.modules.items()) if name.startswith(package)]
    return [file for file in [getattr(module, "__file__", None) for module in modules] if file is not None]


def _is_there(name: str) -> bool:
    """Whether a module can be found without importing anything; True also if only its package can, or if unknown."""
    parent = name.rpartition(".")[0]
    if parent and parent not in sys.modules:
        return _is_there(parent)
    try:
        path = sys.modules[parent].__path__ if parent else None
        return any(finder.find_spec(name, path) is not None for finder in sys.meta_path)
    except AttributeError:
        return not parent  # a module that is not a package contains no others
    except Exception:
        return True


def _without(text: str, number: str) -> str:
    """A text with ``PID`` in the place of a number."""
    head, found, tail = text.partition(number)
    if not found:
        return text
    stays = head[-1:].isdigit() or tail[:1].isdigit()
    return head + (number if stays else "PID") + _without(tail, number)


def _within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(package + ".") for package in packages)


def _in_site_packages(path: str) -> bool:
    return f"{os.sep}site-packages{os.sep}" in path or f"{os.sep}dist-packages{os.sep}" in path

"""Loading modules without moving the program's objects because of files that are no part of it.

The import system remembers what is in each folder that it searches, with the names of files that somebody left beside a
script. And it loads a module from a compiled file, or compiles it, and writes that file if it may.

Rules of this module:

* Folders are listed, files read and written, and modules compiled in the runtime's turn.
* What a module consists of is made in the program's turn, and always out of bytes. Its names would otherwise be where
  the runtime's memory has room, and the interpreter's cache of attributes depends on the addresses of names.
"""

from __future__ import annotations

import marshal
from os import getcwd

from ..accelerator.own_memory import in_own_turn, use_own
from .flat_code import flat, unflat
from .replacing import hide_frames_of

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any


def keep_files_out(folder: str) -> None:
    """Adapt the import system.

    Args:
        folder: a folder of this run, for a file to try it with.
    """
    import _frozen_importlib_external

    module: Any = _frozen_importlib_external
    _use_once(module, folder)
    module.FileFinder.find_spec = _find_spec_replacement(module)
    loads = Loads(module._compile_bytecode)
    module._compile_bytecode = loads.replacement()
    for loader in (module.SourceFileLoader, module.SourcelessFileLoader):
        loader.get_code = loads.get_code_replacement(loader)


def _use_once(module: Any, folder: str) -> None:
    """Compile a module, keep and load it: the interpreter makes some names when its functions are first called."""
    path = f"{folder}/once.py"
    try:
        with open(path, "w") as file:
            file.write("name = 1")
        for _ in range(2):
            module.SourceFileLoader("once", path).get_code("once")
    except OSError:
        pass  # the disk is full, or the program's user may not write there


def _find_spec_replacement(module: Any) -> Callable[..., Any]:
    """``FileFinder.find_spec``, which has listed the folder before it looks.

    Whether it has to list it must not show; a call in the program's turn would, as a traced one creates an object.
    """
    real, path_stat = module.FileFinder.find_spec, module._path_stat

    def list_folder(finder: Any) -> None:
        mtime = path_stat(finder.path or getcwd()).st_mtime
        if mtime != finder._path_mtime:
            finder._fill_cache()
            finder._path_mtime = mtime

    def find_spec(self: Any, fullname: str, target: Any = None) -> Any:
        before = use_own(True)
        try:
            list_folder(self)
        except OSError:
            pass  # the original meets that, too
        finally:
            use_own(before)
        return real(self, fullname, target)

    hide_frames_of(find_spec)
    return find_spec


class Loads:
    """Separates finding the bytes of a module from loading them.

    Args:
        load: ``_compile_bytecode`` of the import system.
    """

    def __init__(self, load: Callable[..., Any]) -> None:
        self._load = load
        self._waits = False
        self._bytes: Any = None
        self._source_path: str | None = None

    def replacement(self) -> Callable[..., Any]:
        """``_compile_bytecode``, which only notes what to load if that is done later."""

        def _compile_bytecode(data: Any, name: Any = None, bytecode_path: Any = None, source_path: Any = None) -> Any:
            if self._waits:
                # Not the view that it is: freed later, it would count for the program's garbage collector.
                self._bytes, self._source_path = bytes(data), source_path
                return None
            return self._load(data, name, bytecode_path, source_path)

        hide_frames_of(_compile_bytecode)
        return _compile_bytecode

    def get_code_replacement(self, loader: Any) -> Callable[[Any, str], object]:
        """``get_code`` of a class of loaders."""
        real = loader.get_code

        def get_code(self_: Any, fullname: str) -> object:
            if type(self_) is loader and self._find(real, self_, fullname):  # a derived class may be the program's
                data, self._bytes = self._bytes, None
                return self._load(data, fullname, None, self._source_path)
            return real(self_, fullname)  # also to raise what was wrong: exceptions are the program's

        hide_frames_of(get_code)
        return get_code

    def _find(self, get_code: Callable[[Any, str], Any], loader: Any, name: str) -> bool:
        """Find the bytes of a module; False if that cannot be done."""
        before = use_own(True)
        self._waits = True
        try:
            code = get_code(loader, name)
            if code is not None:  # it was compiled
                self._bytes, self._source_path = marshal.dumps(code), None
                del code
        except Exception:
            self._bytes = None
        finally:
            self._waits = False
            use_own(before)
        return self._bytes is not None


def adapt_rewriting(module: Any) -> None:
    """Adapt the import system of pytest, which compiles tests in another way (``_pytest.assertion.rewrite``)."""
    read, rewrite, write = (getattr(module, name, None) for name in ("_read_pyc", "_rewrite_test", "_write_pyc"))
    if read is None or rewrite is None or write is None:
        return

    def read_flat(*arguments: Any) -> bytes | None:
        code = read(*arguments)
        return None if code is None else flat(code)

    read_in_own = in_own_turn(read_flat)
    rewrite_in_own = in_own_turn(lambda *arguments: _Rewritten(*rewrite(*arguments)))

    def _read_pyc(*arguments: Any) -> Any:
        data = read_in_own(*arguments)
        return None if data is None else unflat(data)

    def _rewrite_test(*arguments: Any) -> Any:
        rewritten = rewrite_in_own(*arguments)
        return rewritten.status, unflat(rewritten.data)

    module._read_pyc, module._rewrite_test, module._write_pyc = _read_pyc, _rewrite_test, in_own_turn(write)


def adapt_metadata(module: Any) -> None:
    """Let ``importlib.metadata`` see only what it looks for in a folder; it goes through all folders of modules."""
    real = module.FastPath.children

    def list_folder(path: Any) -> str:
        names = (name for name in real(path) if name.lower().endswith(("egg-info", ".dist-info")))
        return "/".join(names)  # a string, as a list has a free list

    in_own = in_own_turn(list_folder)

    def children(self: Any) -> list[str]:
        names = in_own(self)
        return names.split("/") if names else []

    module.FastPath.children = children


class _Rewritten:
    """What pytest tells of a test file, and its code; not a tuple, as those have a free list."""

    __slots__ = ("data", "status")

    def __init__(self, status: object, code: CodeType) -> None:
        self.status, self.data = status, flat(code)

"""The files of a program, and whether they are still a program.

Rules of this module:

* Text is edited as UTF-8 and written as it was read: with its encoding, its byte order mark and its ends of lines.
* A file parses if this interpreter says so. Where its own syntax is newer than this interpreter, the grammar decides.
* What is not Python (data of a package) is kept or removed as a whole.
"""

from __future__ import annotations

import codecs
import io
import tokenize
from dataclasses import dataclass, replace
from pathlib import PurePath

from replay_dd.code.syntax import is_well_formed
from replay_dd.errors.user import InputError
from replay_dd.python_sources import parsed

PYTHON_ENDINGS = (".py", ".pyi", ".pyw")


@dataclass(frozen=True, slots=True)
class File:
    """A file of a program.

    Attributes:
        name: its path, relative to the folder of the program.
        content: its text in UTF-8; or its bytes if it is not Python.
        encoding: how it is written; None if it is not Python.
        mark: the byte order mark it begins with.
        by_grammar: whether its syntax is newer than this interpreter.
    """

    name: str
    content: bytes
    encoding: str | None = "utf-8"
    mark: bytes = b""
    by_grammar: bool = False

    @property
    def is_python(self) -> bool:
        """Whether it can be edited."""
        return self.encoding is not None

    @property
    def written(self) -> bytes:
        """Its bytes on disk."""
        if self.encoding is None or self.encoding == "utf-8":
            return self.mark + self.content
        return self.mark + self.content.decode().encode(self.encoding)

    @property
    def parses(self) -> bool:
        """Whether it is a Python program, or no Python at all."""
        if self.encoding is None:
            return True
        return is_well_formed(self.content) if self.by_grammar else syntax_error(self.written) is None

    def with_content(self, content: bytes) -> File:
        """The same file with another text."""
        return replace(self, content=content)


@dataclass(frozen=True, slots=True)
class Program:
    """One or more files.

    Attributes:
        files: in their order.
    """

    files: tuple[File, ...]

    @property
    def size(self) -> int:
        """Bytes in all files."""
        return sum(len(file.content) for file in self.files)

    @property
    def parses(self) -> bool:
        """Whether all files do."""
        return all(file.parses for file in self.files)


def read_file(name: str, content: bytes) -> File:
    """A file of a program.

    Args:
        name: its path, relative to the folder of the program.
        content: its bytes.

    Raises:
        InputError: it should be Python, and does not parse.
    """
    if PurePath(name).suffix not in PYTHON_ENDINGS:
        return File(name, content, None)
    return read_python(name, content)


def read_python(name: str, content: bytes) -> File:
    """A file that is Python, whatever its name; arguments and errors as for :func:`read_file`."""
    wrong = syntax_error(content)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        raise _does_not_parse(name, wrong or error) from error
    mark = codecs.BOM_UTF8 if encoding == "utf-8-sig" else b""
    encoding = "utf-8" if mark else codecs.lookup(encoding).name
    try:
        text = content.removeprefix(mark).decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise _does_not_parse(name, SyntaxError(f"it is not {encoding}: {error.reason}")) from error
    if wrong is not None and not is_well_formed(text):
        raise _does_not_parse(name, wrong)
    return File(name, text, encoding, mark, by_grammar=wrong is not None)


def syntax_error(content: bytes) -> SyntaxError | None:
    """What is wrong with a Python program, as this interpreter sees it; None if it parses."""
    try:
        parsed(content)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nested too deeply
        return SyntaxError(str(error) or type(error).__name__)
    return None


def _does_not_parse(name: str, error: SyntaxError) -> InputError:
    where = f"{name}, line {error.lineno}" if error.lineno else name
    return InputError(
        f"{where}: {error.msg}.",
        "`replay-dd code` keeps a program a program; `replay-dd input` reduces any text, as with `--units tree`.",
    )

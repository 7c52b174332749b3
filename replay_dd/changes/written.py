"""How the lines of a file are written: in which encoding, and with which line ends.

Rules of this module:

* What moves into another file is written there as that one is: otherwise, a mixture of the two would not be read.
* Only Python says its encoding; elsewhere, no more than the line ends change. What the other encoding does not have
  stays as it is.
* The mark that a file may begin with stays behind: within another file, it is a syntax error.
"""

from __future__ import annotations

import codecs
import contextlib
import tokenize
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_PYTHON = (".py", ".pyi")


class Written(NamedTuple):
    """How a file is written.

    Attributes:
        encoding: the one that Python reads it in; None where that is not known.
        end: what ends most of its lines.
    """

    encoding: str | None
    end: bytes

    def text(self, lines: Iterable[bytes]) -> str:
        """What these lines of the file say.

        Raises:
            UnicodeError: they are not written like that.
        """
        return b"".join(lines).decode(self.encoding or "utf-8")

    def lines(self, lines: Sequence[bytes], other: Written) -> Sequence[bytes]:
        """Lines of this file as they are written in another one."""
        if lines and lines[0].startswith(codecs.BOM_UTF8):
            lines = [lines[0].removeprefix(codecs.BOM_UTF8), *lines[1:]]
        return lines if self == other else [self._line(line, other) for line in lines]

    def _line(self, line: bytes, other: Written) -> bytes:
        if self.encoding and other.encoding and not line.isascii():
            with contextlib.suppress(UnicodeError):
                line = line.decode(self.encoding).encode(other.encoding)
        return line.removesuffix(b"\n").removesuffix(b"\r") + other.end if line.endswith(b"\n") else line


def written(path: str, lines: Sequence[bytes]) -> Written:
    """How a file is written.

    Args:
        path: where it is.
        lines: its lines.
    """
    encoding = None
    if path.endswith(_PYTHON):
        with contextlib.suppress(SyntaxError, LookupError, UnicodeError):  # none such, or not of texts, as `rot13`
            said = tokenize.detect_encoding(iter(lines).__next__)[0].removesuffix("-sig")
            "".encode(said)
            encoding = said
    of_windows = sum(line.endswith(b"\r\n") for line in lines)
    return Written(encoding, b"\r\n" if 2 * of_windows > len(lines) else b"\n")

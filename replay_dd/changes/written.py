"""How the lines of a file are written: in which encoding, and with which line ends.

Rules of this module:

* What moves into another file is written there as that one is: otherwise, a mixture of the two would not be read.
* Only Python says its encoding; elsewhere, no more than the line ends change. What the other encoding does not have
  stays as it is.
"""

from __future__ import annotations

import contextlib
import tokenize
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_PYTHON = (".py", ".pyi")


class Written(NamedTuple):
    """How a file is written.

    Attributes:
        encoding: the one that Python reads it in; None where that is not known.
        end: what ends its lines.
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
        with contextlib.suppress(SyntaxError):  # of an encoding that there is not, too
            encoding = tokenize.detect_encoding(iter(lines).__next__)[0].removesuffix("-sig")
    return Written(encoding, b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n")

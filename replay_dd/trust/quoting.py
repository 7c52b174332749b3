"""Values in generated programs: one function for each target language.

Rules of this module:

* Whatever the value, it stays one value: no text becomes code, another argument, or another line.
* What is generated holds no character that a terminal obeys, or that hides or reorders text: people read it there.
* Comments are one line. A comment in one of the first two lines of a Python file could name an encoding in which the
  rest reads differently, so generated files begin with two lines of their own.

Sources: The Python Language Reference, "Encoding declarations"; POSIX, Shell Command Language, 2.2 and printf(1).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

from replay_dd.trust.printable import html_text, printable

__all__ = ["comment", "html_text", "python_literal", "shell_command", "shell_word"]

# Needs no quotes, wherever it stands: it is no keyword, assignment, option or pattern.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_/.][A-Za-z0-9_/.+,@-]*")
_KEYWORDS = frozenset("case do done elif else esac fi for function if in select then time until while".split())  # noqa: SIM905


def python_literal(value: str | int | Sequence[str]) -> str:
    """A Python expression in ASCII for a text, a number, or a list of texts."""
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value) if value.isascii() and value.isprintable() else ascii(value)
    return f"[{', '.join(map(python_literal, value))}]"


def shell_word(text: str) -> str:
    """A word for a POSIX shell.

    Args:
        text: an argument as :mod:`os` has it: bytes that are not UTF-8 are surrogates. What no program can be given
            (NUL, other surrogates) is escaped with a backslash, as text.
    """
    if _PLAIN_WORD.fullmatch(text) and text not in _KEYWORDS:
        return text
    # A newline cannot come out of a substitution, and needs not: it does no harm in quotes.
    parts = re.split(r"([^\n\t]+)", text)
    return "".join(_quoted(part) for part in parts if part) or "''"


def shell_command(words: Sequence[str]) -> str:
    """The words of a command, for a POSIX shell."""
    return " ".join(map(shell_word, words))


def comment(text: str) -> str:
    """A comment of one line for Python, shells, and everything else where it begins with ``#``."""
    return f"# {printable(text)}".rstrip()


def _quoted(part: str) -> str:
    """A part of a word; runs of what must not be seen by a terminal come out of ``printf``."""
    found = []
    for run in re.findall(r"'+|[^']+", part):
        if run.startswith("'"):
            found.append(f'"{run}"')
            continue
        plain = ""
        for character in run:
            if printable(character, keep="\n\t") == character:
                plain += character
                continue
            if plain:
                found.append(f"'{plain}'")
                plain = ""
            found.append(_by_printf(character))
        if plain:
            found.append(f"'{plain}'")
    return "".join(found)


def _by_printf(character: str) -> str:
    try:
        data = os.fsencode(character)
    except UnicodeEncodeError:
        data = b""
    if not data or data == b"\0":
        return f"'{printable(character)}'"
    return f""""$(printf '{"".join(f"{chr(92)}{byte:03o}" for byte in data)}')\""""

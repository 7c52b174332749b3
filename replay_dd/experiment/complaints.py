"""What a program complains of when it ends with an exit status and no crash report.

Rules of this module:

* A complaint is a line with a word for failure in it; warnings are none. Its *kind* is its own words: those that
  neither are quoted nor occur in the input, so that it stays the same whatever part of the input is left.
* What a complaint that ends with a colon announces is on the next line.
* A line that points at a place (``error here ---^``) belongs to the complaint above it. It looks the same below each.
* Where no line has such a word, those that begin with a place (``file:3: unused``) complain, as those of linters do;
  else all lines at the end may tell. Where nothing is said at all, that is a kind of its own.
* Many programs end with the same status for every failure. What they complain of tells failures apart: two are the
  same if they have a kind of complaint in common that the program does not show on nothing at all, as it does a last
  line that follows every complaint. Of a compiler or linter, the first one counts: others may follow from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_COMPLAINT = re.compile(
    r"""\b(?:
    abort(?:ed|ing)? | assertion | can(?:not|'t|\ not) | corrupt(?:ed)? | could\ (?:not|n't) | denied
    | divi(?:de|sion)\ by | does\ not\ exist | duplicate | error | exception | expected | fail(?:s|ed|ure)? | fatal
    | illegal | invalid | malformed | mismatch(?:ed)? | missing | no\ such | not\ (?:allowed|found|supported|valid)
    | out\ of | overflow | panic | premature | too\ (?:deep|few|large|long|many|short|small) | unable | unbalanced
    | unbound | unclosed | undeclared | undefined | unexpected | unhandled | unknown | unrecogni[sz]ed | unsupported
    | unterminated
    )\b | [a-z](?:Error|Exception)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# How compilers begin a message: the first one is the reason for many of the others.
_DIAGNOSTIC = re.compile(r":\d+(?::\d+)?: (?:fatal )?error: |^error\[", re.IGNORECASE)
_PLACED = re.compile(r"[^\s:]*[^\s:\d][^\s:]*:\d+:(?:\d+:)? ?\S")
_HARMLESS = re.compile(
    # The last ones close what a compiler complains of.
    r"\bwarn(?:ing|ings)?\b|\b(?:no|0|zero) (?:error|failure)s?\b|^(?:info|debug|note)\b"
    r"|^(?:found )?\d+ errors?\b[^:]*$|^error: aborting due to |^for more information about this error",
    re.IGNORECASE,
)
_POINTER = re.compile(r"(?<!\S)[-~=^]*\^[-~=^]*(?!\S)")
_LONGEST = 20_000  # characters, or bytes, of a beginning or an end
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_LAST = 20  # lines
SILENCE = "says nothing"
"""The kind of complaint of a program that says nothing."""


def complaints(output: bytes) -> list[str]:
    """The lines of an output that complain, in order; of a long output, those of its beginning and its end."""
    lines = [line for line in map(str.strip, _lines(output)) if line]
    found = [
        f"{line} {after}" if line.endswith(":") else line
        for line, after in zip(lines, [*lines[1:], ""], strict=False)
        if _COMPLAINT.search(line) and not _HARMLESS.search(line)
    ]
    return [line for number, line in enumerate(found) if not (number and _POINTER.search(line))]


def tellings(output: bytes) -> list[str]:
    """The lines of an output that may tell why a program ended, the most telling ones first."""
    if found := complaints(output):
        return found
    lines = [line for line in map(str.strip, _lines(output)) if _LETTERS.search(line) and not _HARMLESS.search(line)]
    return [line for line in lines if _PLACED.match(line)] or lines[: -_LAST - 1 : -1]


def _lines(output: bytes) -> list[str]:
    if len(output) > 2 * _LONGEST:
        output = output[:_LONGEST] + b"\n" + output[-_LONGEST:]
    return output.decode("utf-8", "replace").splitlines()


def in_short(text: str) -> str:
    """A text, of a long one its beginning and its end: a message may have all of a program's data in it."""
    return text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]} {text[-_LONGEST:]}"


def leads(complaint: str) -> bool:
    """Whether a first complaint is the reason for those that follow, as far as its form tells."""
    return bool(_DIAGNOSTIC.search(complaint) or _PLACED.match(complaint))


def telling_line(output: bytes) -> str:
    """The line that says best why a program ended: its first complaint, or the last line that has words."""
    if found := tellings(output):
        return found[0]
    spoken: Sequence[str] = [line.strip() for line in _lines(output) if line.strip()]
    return next((line for line in reversed(spoken) if _LETTERS.search(line)), spoken[-1] if spoken else "")

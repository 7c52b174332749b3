"""How a call ended, and which endings are the same failure.

Rules of this module:

* Two exceptions are the same failure if they are of one type, were raised at one place, and say the same. What the
  text for the whole call repeats of the arguments does not count, nor do its numbers, addresses, and data in
  brackets: all that changes with the arguments.
* Of a failed assertion, only the first line counts, and where it stands: pytest adds what it compared.
* Where a stack overflows is a matter of how deep the arguments are, so of a ``RecursionError`` neither place nor text
  counts.
* The number that a process ends with is told by a ``SystemExit``: there it counts.
* A caller who knows better says so: with a type, a regular expression for ``type: text``, or a function.
"""

from __future__ import annotations

import ast
import re
import signal
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay_dd.call.in_child import EXITED, HUNG, KILLED, RAISED, RETURNED, type_name
from replay_dd.errors.program import DoesNotFailError
from replay_dd.errors.user import ArgumentError

_SHOWN = 200
_LONGEST_COMPARED = 2000


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended.

    Attributes:
        end: ``returned``, ``raised``, ``hung``, ``killed`` or ``exited``.
        kind: the type of the exception, the name of the signal, or the exit status.
        kinds: that type and its base classes.
        text: the text of the exception; the time limit of a call that hung.
        place: where it was raised: file, line, column and function; empty if that is unknown.
    """

    end: str
    kind: str = ""
    text: str = ""
    place: tuple[str, int, int, str] | tuple[()] = ()
    kinds: tuple[str, ...] = ()

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Ending:
        """From what :mod:`replay_dd.call.in_child` tells."""
        end = told["end"]
        if end == RAISED:
            place = (told["file"], told["line"], told["column"], told["function"]) if "file" in told else ()
            kinds = tuple(told["types"])
            return cls(end, kinds[0], told["text"], () if kinds[0] == _OVERFLOW else place, kinds)
        if end == KILLED:
            return cls(end, _signal_name(told["signal"]))
        if end == HUNG:
            return cls(end, text=f"{told['limit_s']:g}")
        return cls(end, str(told["status"]) if end == EXITED else "")

    @property
    def failed(self) -> bool:
        """Whether the call did anything but return."""
        return self.end != RETURNED

    @property
    def words(self) -> str:
        """The ending in one line."""
        if self.end == RAISED:
            place = ""
            if self.place:
                file, line, _, function = self.place
                place = f" ({file.rpartition('/')[2]}:{line} in {function})"
            return f"{said(self.kind, self.text)}{place}"
        if self.end == KILLED:
            return f"killed by {self.kind}"
        if self.end == HUNG:
            return f"still running after {self.text} s"
        return f"ended its process with status {self.kind}" if self.end == EXITED else "it returns"

    @property
    def told(self) -> str:
        """Type and text of the exception, in full but in one line."""
        if self.end != RAISED:
            return self.words
        short = self.kind.rpartition(".")[2]
        return f"{short}: {_one_line(self.text)}" if self.text else short

    @property
    def in_full(self) -> str:
        """What a regular expression is matched against: type and text, as a traceback ends."""
        return f"{self.kind}: {self.text}" if self.end == RAISED else self.words

    @property
    def is_status(self) -> bool:
        """Whether it is an exit status, and nothing that was said of the arguments."""
        return _EXIT in self.kinds and _STATUS.fullmatch(self.text) is not None

    @property
    def signature(self) -> Hashable:
        """Equal for endings that are alike."""
        text = _asserted(self.text) if _ASSERTION in self.kinds else _generalised(_one_line(self.text))
        if self.is_status:
            text = self.text
        return self.end, self.kind, self.place, text if self.end == RAISED else ""


Rule = type[BaseException] | str | re.Pattern[str] | None
"""What counts as the failure: a type, or a regular expression for ``type: text``; None for the same failure."""
Matches = Callable[[Ending], bool]
"""Whether a call ended with the failure."""


def matcher(rule: Rule, wanted: Ending, strings: Iterable[str]) -> Matches:
    """What tells the failure from other endings.

    Args:
        rule: what the user says that the failure is.
        wanted: how the whole call ended.
        strings: those in its arguments; used when a text is compared.

    Raises:
        ArgumentError: the rule is none.
        DoesNotFailError: the whole call did not end with that failure.
    """
    if rule is None:
        return _same_as(wanted, strings)
    name, matches = _by_rule(rule)
    if not matches(wanted):
        raise DoesNotFailError(f"The call fails with {wanted.words}, which is not {name}.", "Give another failure.")
    return matches


def _by_rule(rule: object) -> tuple[str, Matches]:
    """What a rule is called in messages, and what it says of an ending."""
    if isinstance(rule, type) and issubclass(rule, BaseException):
        name = type_name(rule)
        return name, lambda ending: name in ending.kinds
    if not isinstance(rule, str | re.Pattern):
        raise ArgumentError(
            f"failure is {rule!r}", "Give a type of exception, or a regular expression for its type and text."
        )
    told = rule if isinstance(rule, str) else rule.pattern
    try:
        pattern = re.compile(rule)
    except re.error as error:
        raise ArgumentError(f"{told!r} is not a regular expression: {error}", "") from None
    return told, lambda ending: ending.failed and pattern.search(ending.in_full) is not None


def _same_as(wanted: Ending, strings: Iterable[str]) -> Matches:
    pattern: re.Pattern[str] | None = None

    def same(ending: Ending) -> bool:
        nonlocal pattern
        if (ending.end, ending.kind, ending.place) != (wanted.end, wanted.kind, wanted.place):
            return False
        if ending.text == wanted.text or wanted.end != RAISED or wanted.kind == _OVERFLOW:
            return True
        if wanted.is_status or ending.is_status:
            return False
        if _ASSERTION in wanted.kinds:
            return _asserted(ending.text) == _asserted(wanted.text)
        pattern = pattern or text_pattern(wanted.text, strings)
        return pattern.fullmatch(_one_line(ending.text)[:_LONGEST_COMPARED]) is not None

    return same


def _asserted(text: str) -> str:
    """What a failed assertion says itself; pytest adds all that it compared."""
    line = _generalised(text.partition("\n")[0])
    return "" if line.startswith("assert ") else line


def text_pattern(text: str, strings: Iterable[str]) -> re.Pattern[str]:
    """What matches a text of an exception, and those that differ only in what comes from the arguments of the call.

    Args:
        text: the text for the whole call.
        strings: those in the arguments of the whole call; the longer they are, the surer they are recognised.
    """
    found = [one for one in {one.strip() for one in strings} if one]
    lines = text.splitlines()
    if len(lines) > 1:
        lines = [_ANY if _is_excerpt(line.strip(), found) else line for line in lines]
    text = _one_line("\n".join(lines))[:_LONGEST_COMPARED]
    for string in sorted(map(_one_line, found), key=lambda one: (-len(one), one)):
        if string in text:
            before = r"(?<!\w)" if string[0].isalnum() else ""
            after = r"(?!\w)" if string[-1].isalnum() else ""
            text = re.sub(before + re.escape(string) + after, _ANY, text)
    # What is repeated of the arguments may be nothing, and then no space is around it.
    text = re.sub(f" ?{_ANY} ?", _ANY, _generalised(text, lambda quoted: _is_repeated(quoted, found)))
    return re.compile("".join(_MARKS.get(character) or re.escape(character) for character in text), re.DOTALL)


def said(kind: str, text: str) -> str:
    """An exception in one line, cut."""
    short = kind.rpartition(".")[2]
    line = " ".join(text.split())
    told = f"{short}: {line}" if line else short
    return told if len(told) <= _SHOWN else f"{told[: _SHOWN - 3]}..."


def steady(ending: Ending) -> str:
    """What an exception says, without addresses; nothing where the text is a matter of chance."""
    return "" if ending.kind == _OVERFLOW else _ADDRESS.sub("", ending.text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_excerpt(line: str, strings: Sequence[str]) -> bool:
    """Whether a line of a text shows a piece of the arguments, or is a mark under one."""
    if not _WORD.search(line) or any(line in string for string in strings):
        return True
    covered = start = 0
    while start < len(line):
        piece = line[start : start + _LONG_PIECE]
        if len(piece) == _LONG_PIECE and any(piece in string for string in strings):
            covered += _LONG_PIECE
            start += _LONG_PIECE
        else:
            start += 1
    return 2 * covered >= len(line)


def _is_repeated(quoted: str, strings: Iterable[str]) -> bool:
    """Whether something in quotes is, or may be, from the arguments: punctuation by itself is not."""
    if _ANY in quoted:
        return True
    try:
        value = ast.literal_eval(quoted)
        inside = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    except (SyntaxError, ValueError):
        inside = quoted[1:-1]
    inside = inside.strip().removesuffix("...")
    return bool(_WORD.search(inside)) and any(inside in string for string in strings)


def _generalised(text: str, is_repeated: Callable[[str], bool] = lambda quoted: True) -> str:
    """A text with a mark in place of what it repeats in quotes, of numbers, addresses, and data in brackets."""
    text = _QUOTED.sub(lambda found: "\1" if is_repeated(found[0]) else found[0], text)
    text = _NUMBER.sub("\4", _ADDRESS.sub("\3", text))
    while (inner := _BRACKETS.sub("\2", text)) != text:
        text = inner
    return text


_LONG_PIECE = 8  # characters that are not in the arguments and in a text by chance
_OVERFLOW = "RecursionError"
_ASSERTION = "AssertionError"
_EXIT = "SystemExit"
_STATUS = re.compile(r"-?\d+|None|True|False|")
_ANY = "\0"
# What stands for something that may differ, and what it stands for.
_MARKS = {
    _ANY: ".*",
    "\1": "b?[\"'`‘“].*[\"'`’”]",
    "\2": r"[(\[{].*[)\]}]",
    "\3": "0x[0-9a-fA-F]+",
    "\4": r"(?:-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|\b(?:None|True|False|nan|inf)\b)",
}
_WORD = re.compile(r"\w")
_NUMBER = re.compile(_MARKS["\4"])
_QUOTED = re.compile(r"(?:\bb)?(?:\"[^\"\n]*\"|'[^'\n]*')|`[^'`\n]*['`]|‘[^’\n]*’|“[^”\n]*”")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+\b")
# Without words of its own, which are the program's: data.
_BRACKETS = re.compile(r"\([^()\[\]{}\w]*\)|\[[^()\[\]{}\w]*\]|\{[^()\[\]{}\w]*\}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

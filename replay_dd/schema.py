"""What a schema says besides types, and the error of a value that does not keep to it.

Rules of this module:

* The annotations of a frozen dataclass are the schema of a JSON object (:mod:`replay_dd.json_codec`). What a type
  cannot say stands beside it in an ``Annotated``: a :class:`Rule` that the value must keep, or another :class:`Form` in
  which it is written.
* Numbers, items and depth have limits, so that a made-up file costs no more than its size.
* Messages show values as ASCII and not at length: a made-up file may hold what a terminal obeys.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SMALLEST_INTEGER, LARGEST_INTEGER = -(2**63), 2**64 - 1
"""Integers outside of 64 bits are refused; digests need all of them."""

MOST_ITEMS = 1_000_000
"""Lists of more items, and objects of more members, are refused."""

DEEPEST = 50
"""Values of no fixed type may be nested so deeply."""

_LONGEST_SHOWN = 60


@dataclass(frozen=True)
class Rule:
    """What a value must be, besides being of its type.

    Attributes:
        words: what it must be, to follow "must be": ``a number from 1 to 7``.
        holds: whether a value of the right type keeps the rule.
    """

    words: str
    holds: Callable[[Any], object]


@dataclass(frozen=True)
class Range(Rule):
    """Numbers from ``low`` to ``high``."""

    low: int
    high: int


@dataclass(frozen=True)
class Form:
    """How a value is written where JSON has no such type.

    Attributes:
        words: what the written value must be, to follow "must be".
        write: the value as JSON has it.
        read: the value again; raises a ValueError for what is not of this form.
    """

    words: str
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def numbers(low: int, high: int) -> Range:
    """Integers from ``low`` to ``high``."""
    return Range(f"a number from {low:,} to {high:,}", lambda value: low <= value <= high, low, high)


def one_of(*values: str) -> Rule:
    """One of these texts."""
    return Rule(f"one of {', '.join(values)}", lambda value: value in values)


def _read_base64(text: Any) -> bytes:
    if type(text) is not str:
        raise ValueError
    return base64.b64decode(text, validate=True)


BASE64 = Form("bytes in Base64", lambda data: base64.b64encode(data).decode("ascii"), _read_base64)


class Misfit(ValueError):
    """A value that does not keep to its schema.

    Args:
        problem: what is wrong, to follow the name of the value: ``is missing``.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self._problem = problem
        self._path = ""  # from the outermost value to this one: `frames[2].line`

    def inside(self, name: str) -> Misfit:
        """The same, told from one level further out."""
        self._path = name + ("." if self._path and not self._path.startswith("[") else "") + self._path
        return self

    def __str__(self) -> str:
        return f"{f'`{self._path}`' if self._path else 'it'} {self._problem}"


def must_be(words: str, value: object) -> Misfit:
    """The error for a value that is something else."""
    return Misfit(f"must be {words}, not {shown(value)}")


def shown(value: object) -> str:
    """A value in an error message."""
    if isinstance(value, list | tuple | dict):  # whose text may be as long as the file
        what, part = ("object", "member") if isinstance(value, dict) else ("list", "item")
        if not value:
            return f"an empty {what}"
        return f"{'an' if what == 'object' else 'a'} {what} of {len(value):,} {part}{'s' * (len(value) > 1)}"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = ascii(value[:_LONGEST_SHOWN] if isinstance(value, str) else value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."

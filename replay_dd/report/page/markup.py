"""HTML that is safe by construction: all that is not markup already is escaped when it is put into an element."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from replay_dd.trust.printable import html_text, printable

_VOID = frozenset({"br", "col", "hr", "input", "link", "meta"})

Child = object
"""What an element may hold: markup, text, a number, nothing (None), or several of these."""


class Markup(str):
    """Text that is HTML. Only this module makes it out of anything but constants."""

    __slots__ = ()


def tag(name: str, /, *children: Child, **attributes: object) -> Markup:
    """An element.

    Args:
        name: its name.
        children: what it holds.
        attributes: its attributes. A trailing underscore is dropped and others become hyphens, so that ``class_`` and
            ``data_step`` can be written. True stands for an attribute without a value; None and False for none.
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        words.append(key if value is True else f'{key}="{html_text(str(value))}"')
    start = f"<{' '.join(words)}>"
    return Markup(start) if name in _VOID else Markup(f"{start}{joined(children)}</{name}>")


def joined(children: Iterable[Child], between: str = "") -> Markup:
    """The markup of several children, one after the other."""
    return Markup(between.join(_markup(child) for child in children))


def _markup(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, (str, int, float)):
        return html_text(str(child))
    if isinstance(child, Iterable):
        return joined(child)
    raise TypeError(f"{type(child).__name__} cannot be put into a page")


def cut(text: str, longest: int) -> str:
    """A text of at most this many characters; where it is longer, it says so."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters)"


def data_island(identifier: str, data: Mapping[str, Any]) -> Markup:
    """Data for the script of a page, in a form that cannot end its element or show what :func:`printable` hides."""
    text = json.dumps(_printable(data), separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{html_text(identifier)}">{text}</script>')


def _printable(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value, keep="\t")
    if isinstance(value, Mapping):
        return {printable(str(key)): _printable(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(one) for one in value]
    return value

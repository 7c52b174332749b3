"""The links of a story that were tried by experiment, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story.links import Links
from replay_dd.schedules.story.words import short_file

_WIDTH = 80
_LABEL = 13  # columns before the text of a line with a name


def labelled(label: str, text: str) -> Iterator[str]:
    """Lines of a text, behind what they are called; what does not fit is indented like its first line."""
    indent = " " * (_LABEL + len(text) - len(text.lstrip()))
    yield from textwrap.wrap(f"{label:<{_LABEL}}{text}", _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def links_as_text(links: Links) -> Iterator[str]:
    """The links with what came of trying them, line by line."""
    for label, text in links_in_words(links):
        yield from labelled(label, text)


def links_in_words(links: Links) -> Iterator[tuple[str, str]]:
    """The proved links first, then those that are not: a label, and a text of any length.

    Where two are proved, a last text without a label says what that means.
    """
    proved = sum(link.proved for link in links.tried)
    several = proved > 1
    names = {access.name for link in links.tried for access in (link.first, link.second)}
    for link in sorted(links.tried, key=lambda link: not link.proved):
        first, second = (_in_short(access, named=len(names) > 1) for access in (link.first, link.second))
        if link.proved:
            alone = "" if several else "; with only these two reversed, it passes"
            yield "proved", f"{first} before {second}{alone}"
        else:
            yield "not proved", f"{first} before {second}: {link.why_not}"
    if several:
        all_of_them, any_of_them = ("Both", "either one") if proved == 2 else ("All", "any one")
        yield "", f"{all_of_them} proved orders are needed: with {any_of_them} reversed, it passes."


def _in_short(access: Access, *, named: bool) -> str:
    """What a thread does in a few words, such as ``0.1 stores 110 (bank.py:14)``."""
    does, value = access.does, (access.new if access.writes and access.does != "deletes" else access.old).text
    if does == "calls":
        does, value = access.detail, ""
    elif does == "checks":
        value = access.thing[2] if not named else ""
    name = f" {access.name}" if named else ""
    value = f" {value}" if value not in ("", "?") else ""
    return f"{access.thread} {does}{name}{value} ({short_file(access.place.file)}:{access.place.line})"


def links_as_json(links: Links) -> list[dict[str, Any]]:
    """The member ``links`` of the story."""
    return [
        {
            "first": _access_as_json(link.first),
            "second": _access_as_json(link.second),
            "proved": link.proved,
            "why_not": link.why_not or None,
        }
        for link in links.tried
    ]


def _access_as_json(access: Access) -> dict[str, Any]:
    return {
        "thread": access.thread,
        "time": access.time,
        "does": access.does,
        "name": access.name,
        "file": access.place.file,
        "line": access.place.line,
    }

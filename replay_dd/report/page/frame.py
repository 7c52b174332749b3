"""The frame of every page: its head, its policy, its style and its script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from replay_dd.files import write_whole
from replay_dd.report.page.markup import Child, Markup, cut, data_island, joined, tag

_LONGEST_TITLE = 300
_KEYS = (
    ("→ or l", "next step"),
    ("← or h", "step before"),
    ("Home, End", "first and last step"),
    ("d", "to the switch that makes the difference, or the first step"),
    ("p", "play and pause"),
    ("r", "the other run, where there is room for one only"),
    ("t", "light or dark"),
    ("?", "these keys"),
)


@dataclass(frozen=True)
class Page:
    """What stands on a page.

    Attributes:
        kicker: what kind of result this is, in a word or two.
        title: what was found.
        summary: the same in a sentence or two.
        verdict: how the failing run ended.
        sections: the rest.
        data: for the script.
    """

    kicker: str
    title: str
    summary: str = ""
    verdict: str = ""
    sections: tuple[Child, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


def write_page(page: Page, path: Path) -> None:
    """Write a page to a file.

    Raises:
        OutputError: it cannot be written.
    """
    write_whole(path, page_html(page).encode())


def page_html(page: Page) -> str:
    """The whole page."""
    style, script = _own("page.css"), _own("page.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    steps = bool(page.data)
    title = cut(page.title, _LONGEST_TITLE)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", f"{title} – replay-dd"),
        tag("style", Markup(style)),
    )
    header = tag(
        "header",
        tag(
            "div",
            tag("span", "replay-dd", class_="brand"),
            tag(
                "div",
                tag("button", "Keys ", tag("kbd", "?"), type="button", id="show-keys") if steps else None,
                tag("button", "Dark", type="button", id="theme"),
                class_="tools scripted",
            ),
            class_="top",
        ),
        tag("p", page.kicker, class_="kicker"),
        tag("h1", title),
        tag("p", cut(page.summary, 2_000), class_="summary") if page.summary else None,
        tag("p", cut(page.verdict, 2_000), class_="verdict") if page.verdict else None,
    )
    body = tag(
        "body",
        header,
        tag("main", page.sections),
        _keys() if steps else None,
        data_island("data", page.data),
        tag("script", Markup(script)),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _own(name: str) -> str:
    return resources.files("replay_dd.report.page").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a policy allows by: the hash of what stands in the element."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _keys() -> Markup:
    rows = [tag("div", tag("dt", tag("kbd", keys)), tag("dd", words)) for keys, words in _KEYS]
    return tag(
        "dialog",
        tag("h2", "Keys", id="keys-title"),
        tag("dl", joined(rows)),
        tag("button", "Close", type="button", id="close-keys"),
        id="keys",
        aria_labelledby="keys-title",
    )

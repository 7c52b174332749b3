"""What pages have in common: sections, facts, commands to copy, texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from replay_dd.report.page.markup import Child, Markup, cut, tag

_LONGEST_FACT = 2_000
_MOST_LINES = 400
_LONGEST_LINE = 1_000


def section(identifier: str, title: str, *children: Child, class_: str | None = None) -> Markup:
    """A part of a page with its title."""
    heading = f"{identifier}-title"
    return tag("section", tag("h2", title, id=heading), children, id=identifier, aria_labelledby=heading, class_=class_)


def facts(pairs: Iterable[tuple[str, Child]]) -> Markup:
    """Names and what there is to say about them."""
    rows = [
        tag("div", tag("dt", name), tag("dd", cut(words, _LONGEST_FACT) if type(words) is str else words))
        for name, words in pairs
    ]
    return tag("dl", rows, class_="facts")


def commands(pairs: Sequence[tuple[str, str]]) -> Markup:
    """The section with the commands to copy: what each does, and the command."""
    rows = [
        tag(
            "div",
            tag("dt", what),
            tag("dd", tag("code", command), tag("button", "Copy", type="button", class_="copy", data_copy=command)),
        )
        for what, command in pairs
    ]
    return section("commands", "How to replay it", tag("dl", rows, class_="commands"))


def text(lines: Iterable[str]) -> Markup:
    """Lines as they stand in a terminal."""
    shown = [cut(line, _LONGEST_LINE) for line in lines]
    more = len(shown) - _MOST_LINES
    return tag(
        "pre",
        "\n".join(shown[:_MOST_LINES]),
        f"\n… and {more:,} more lines" if more > 0 else None,
        class_="text",
        tabindex=0,
    )


def folded(summary: str, *children: Child) -> Markup:
    """What is shown when it is asked for."""
    return tag("details", tag("summary", summary), children)

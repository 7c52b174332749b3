"""What was tried against a failure: each experiment with how often it still fails, and how often it did without."""

from __future__ import annotations

from replay_dd.report.links import links_in_words
from replay_dd.report.page.markup import Child, Markup, cut, tag
from replay_dd.report.tried import outcome_in_words, tried_in_words, virtual_in_words
from replay_dd.schedules.story.experiment_results import (
    FAILS,
    NO_PROOF,
    PREVENTS,
    TOO_FEW,
    Attempt,
    Counts,
    Experiments,
)
from replay_dd.schedules.story.links import Links

_LONGEST = 400
_SIGNS = {PREVENTS: ("✓", "passes"), FAILS: ("✗", "fails"), NO_PROOF: ("?", "unresolved")}
_WIDTH, _HEIGHT = 240, 9


def tried_part(tried: Experiments | None) -> list[Child]:
    """The experiments, for the story; nothing if none was made."""
    if tried is None:
        return []
    parts: list[Child] = []
    if tried.attempts:
        parts.append(tag("ul", [_attempt(attempt) for attempt in tried.attempts], class_="attempts"))
    rest = [words.strip() for label, words in tried_in_words(tried) if label or not tried.attempts or "(" in words[:4]]
    told = [words for words in rest if not words.endswith(":")]
    if told:
        parts.append(tag("p", cut(" ".join(told), _LONGEST), class_="remark"))
    return parts


def links_part(links: Links) -> list[Child]:
    """The orders that the story says matter, each tried alone; nothing if none was."""
    if not links.tried:
        return []
    signs = {"proved": "✓ ", "not proved": "? not proved: "}
    lines = [f"{signs.get(label, '')}{words}" for label, words in links_in_words(links)]
    return [tag("ul", [tag("li", cut(line, _LONGEST)) for line in lines], class_="links")]


def best_of(tried: Experiments | None) -> str:
    """The first experiment that prevents the failure, in words; empty if there is none."""
    attempts = [] if tried is None else [one for one in tried.attempts if one.verdict == PREVENTS]
    return f"{virtual_in_words(attempts[0].virtual)}: {outcome_in_words(attempts[0])}" if attempts else ""


def _attempt(attempt: Attempt) -> Markup:
    sign, kind = _SIGNS.get(attempt.verdict, ("?", "unresolved"))
    return tag(
        "li",
        tag("p", tag("b", f"{sign} ", class_=kind), tag("b", cut(virtual_in_words(attempt.virtual), _LONGEST))),
        _bar("without", attempt.without),
        _bar("with it", attempt.counts) if attempt.verdict != NO_PROOF else None,
        tag("p", cut(outcome_in_words(attempt), _LONGEST), class_="remark") if _more_to_say(attempt) else None,
    )


def _more_to_say(attempt: Attempt) -> bool:
    """Whether the bars do not tell all of it."""
    return bool(attempt.counts.others or attempt.without.others or attempt.verdict in (NO_PROOF, TOO_FEW))


def _bar(label: str, counts: Counts) -> Markup:
    """How many of the schedules fail, as a bar."""
    share = counts.failed / counts.schedules if counts.schedules else 0
    width = max(round(share * _WIDTH), 2 if counts.failed else 0)
    words = f"{counts.failed:,} of {counts.schedules:,} fail"
    bar = tag(
        "svg",
        tag("rect", width=_WIDTH, height=_HEIGHT, rx=3, class_="all"),
        tag("rect", width=width, height=_HEIGHT, rx=3, class_="failed") if width else None,
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        aria_hidden="true",
    )
    return tag("p", tag("span", label, class_="label"), bar, tag("span", words), class_="share")

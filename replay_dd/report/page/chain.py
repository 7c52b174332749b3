"""The chain from what the threads did to the failure: a place for each step, with its values in both runs."""

from __future__ import annotations

from replay_dd.report.chain import ending_in_words
from replay_dd.report.page.markup import Child, Markup, cut, tag
from replay_dd.report.source import source_line
from replay_dd.schedules.model import Program
from replay_dd.schedules.story.chain import Chain, ChainStep

_LONGEST = 300


def chain_part(chain: Chain, program: Program) -> list[Child]:
    """The chain, for the story; nothing if there is none.

    Args:
        chain: the steps.
        program: the program, for its source lines.
    """
    if not chain.steps:
        return []
    parts: list[Child] = [tag("h4", "How this leads to the failing line")]
    if chain.lost:
        parts.append(tag("p", f"Not followed farther back: {cut(chain.lost, _LONGEST)}.", class_="remark"))
    steps = [_step(step, program, ending_in_words(chain) if step is chain.steps[-1] else "") for step in chain.steps]
    heads = [tag("th", head, scope="col") for head in ("thread", "line", "in the failing run", "in the passing run")]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", steps), class_="chain")
    return [*parts, tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="From cause to failure")]


def _step(step: ChainStep, program: Program, ending: str) -> Markup:
    place = step.place
    words = ": ".join(one for one in (step.words, ending) if one)
    source = source_line(place, program)
    other = step.passing if step.reached else "does not come here"
    return tag(
        "tr",
        tag("th", step.thread, scope="row"),
        tag(
            "td",
            tag("span", f"{cut(place.file.rpartition('/')[2], _LONGEST)}:{place.line}", class_="at"),
            tag("code", cut(source, _LONGEST), class_="source") if source else None,
        ),
        tag("td", cut(words, _LONGEST), class_="fails"),
        tag("td", cut(other, _LONGEST), class_="passes"),
    )

"""Pages show whatever a log, a program or a search may hold, and never obey it."""

from __future__ import annotations

import re
import shlex
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings

from replay_dd.circumstance import Goal
from replay_dd.report.page.answer import answer_page
from replay_dd.report.page.frame import Page, page_html
from replay_dd.report.page.runs import log_page
from replay_dd.report.page.story import story_section
from replay_dd.report.trace import TracedRun, trace_of
from replay_dd.schedules.model import Log
from replay_dd.schedules.observed.observation import Observation
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.story import Step, Story, Thing, Turn
from replay_dd.trust.printable import printable
from tests.report.observed import LOST, Elements
from tests.report.page.test_markup import TEXTS
from tests.report.test_isolation import isolated
from tests.schedules.logs import FAILED, LOGS

pytestmark = pytest.mark.once

KNOWN = {
    *("html", "head", "meta", "title", "style", "script", "body", "header", "main", "section", "article", "dialog"),
    *("div", "span", "p", "h1", "h2", "h3", "b", "i", "code", "kbd", "pre", "ol", "ul", "li", "dl", "dt", "dd"),
    *("table", "caption", "colgroup", "col", "thead", "tbody", "tr", "th", "td", "button", "input", "output"),
    *("details", "summary", "figure", "figcaption", "svg", "g", "text", "line", "rect", "path", "circle"),
}


def check(page: Page) -> Elements:
    """A page is made of known elements, and runs our script only."""
    text = page_html(page)
    text.encode()
    found = Elements(text)
    assert found.names <= KNOWN
    names = {name for _, attributes in found.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in ("href", "src", "style")]
    assert [attributes.get("type") for name, attributes in found.elements if name == "script"] == [
        *("application/json", None)
    ]
    return found


@settings(max_examples=30)
@given(LOGS)
def test_any_log_has_a_page(log: Log) -> None:
    check(log_page(log, Path("run.log"), ["report"]))
    trace_of([TracedRun("run", log)])


@settings(max_examples=30)
@given(TEXTS, TEXTS, TEXTS)
def test_an_observation_is_shown_and_not_obeyed(name: str, text: str, ending: str) -> None:
    log, seen = LOST
    raised = replace(FAILED.exceptions[0], text=ending)
    log = replace(log, ending=replace(log.ending, status=1, exceptions=(raised,)))
    accesses = tuple(
        one._replace(name=name, old=one.old._replace(text=text), new=one.new._replace(text=text))
        for one in seen.accesses
    )
    found = check(log_page(log, Path(f"{name}.log"), [text], Observation(accesses, {9: name})))
    shown = "".join(found.text)
    assert printable(text[:80], keep="\n\t") in shown
    assert printable(f"replay-dd replay {shlex.quote(f'{name}.log')}", keep="\n\t") in shown


@given(TEXTS)
def test_a_story_is_shown_and_not_obeyed(text: str) -> None:
    (first, *_) = LOST[1].accesses
    step = Step((first,), text)
    story = Story(
        *(text, (Thing(text, text),), text, (Turn(text, first.stack, (step,), 3, text),)),
        passes=text,
        passing=((text, step),),
        locks=(text,),
        waits=(text,),
        inferred=(text,),
    )
    section = story_section(Explanation(story), LOST[0].program)
    assert Elements(section).names <= KNOWN


def test_a_very_long_text_is_cut() -> None:
    log, seen = LOST
    long = "x" * 1_000_000
    accesses = tuple(one._replace(name=long, detail=long, old=one.old._replace(text=long)) for one in seen.accesses)
    text = page_html(log_page(log, Path("run.log"), [long] * 1_000, Observation(accesses, {9: long})))
    assert len(text) < 2_000_000
    assert "more characters)" in text


def test_the_policy_allows_one_script_and_one_style() -> None:
    found = Elements(page_html(Page("kind", "title")))
    (policy,) = [attributes["content"] for _, attributes in found.elements if "http-equiv" in attributes]
    assert policy is not None
    allowed = re.findall(r"(?:script|style)-src '(sha256-[^']+)';", policy)
    text = page_html(Page("kind", "title"))
    parts = [re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL) for name in ("script", "style")]
    assert [f"sha256-{b64encode(sha256(part.encode()).digest()).decode()}" for (part,) in parts] == allowed
    assert policy.startswith("default-src 'none';")


def test_the_course_of_a_search_is_drawn_and_listed() -> None:
    found = isolated(lambda left: {3, 5} <= left)
    page = check(answer_page(found, "eight items", ["report"], content=("what is left", "3\n5")))
    text = "".join(page.text)
    for step in found.steps:
        assert f"test {step.number} {'fails' if step.outcome.value == 'FAIL' else 'passes'};" in text
    (picture,) = [attributes for name, attributes in page.elements if name == "svg"]
    assert picture["aria-label"] == f"{len(found.steps)} tests, from 8 to {found.deltas_left} items"
    (line,) = [attributes["d"] for name, attributes in page.elements if attributes.get("class") == "left"]
    assert line is not None
    assert line.count("V") == len({step.deltas_left for step in found.steps if step.outcome.value == "FAIL"} - {8})


def test_an_answer_in_words_takes_the_place_of_the_list_of_deltas() -> None:
    found = isolated(lambda left: {3, 5} <= left)
    told = ["The failure needs 2 steps of 9:", "     4  press Save", "     6  press Send", "Without them it passes."]
    text = "".join(check(answer_page(found, "a flow", [], told=told)).text)
    assert "The failure needs 2 steps of 9" in text
    assert text.index("What is left") < text.index("press Save") < text.index("Without them")
    assert "of 8" not in text.partition("What is left")[0], "deltas are not what users count"


def test_what_needed_no_test_is_in_the_course_too() -> None:
    """The last deltas go when the outcomes are known already: then the line ends below the last mark."""
    found = isolated(lambda left: {3, 5} <= left)
    found.circumstance.goal = Goal.ISOLATE
    found = replace(found, steps=tuple(replace(step, deltas_left=4) for step in found.steps))
    page = check(answer_page(found, "eight items", []))
    (picture,) = [attributes for name, attributes in page.elements if name == "svg"]
    assert picture["aria-label"] == f"{len(found.steps)} tests, from 8 to {found.deltas_left} items"

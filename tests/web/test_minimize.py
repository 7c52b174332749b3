"""Minimising flows in a real browser. The defects on these pages are planted; a real one is in tests/demos."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, PageUnreachableError
from replay_dd.experiment.baseline import Rate
from replay_dd.outcome import Outcome
from replay_dd.web.browser import WebBrowser
from replay_dd.web.flow import ALGORITHMS
from replay_dd.web.minimize import FlowIsolation, minimize
from tests.web.flows import change, click, flow, key, visible

pytestmark = pytest.mark.once

# What fails on these pages fails within this time after the last step, by far.
SETTLE_S = 0.2

# Emptying the list and then searching it raises an error, after a delay.
PAGE = """<!doctype html><button id="add">Add</button><button id="clear">Clear</button><input id="search">
<button id="menu">Menu</button><button id="broken" hidden>Broken</button><p id="error" hidden>Bad sum</p>
<p id="out"></p>
<script>
  let items = [];
  add.onclick = () => { items = items || []; items.push(items.length); out.textContent = items.length };
  clear.onclick = () => { items = null; error.hidden = false };
  search.oninput = () => setTimeout(() => { out.textContent = items.indexOf(search.value) }, 20);
  menu.onclick = () => { broken.hidden = !broken.hidden };
  broken.onclick = () => { console.assert(!items.length, 'too many items') };
</script>"""


@pytest.fixture
def page(tmp_path: Path, site: str) -> str:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return f"{site}/page.html"


def described(found: FlowIsolation) -> list[str]:
    """What the minimal flow does after the page has loaded."""
    return [str(step.data.get("selectors", [[step.type]])[0][0]) for step in found.flow.steps[2:]]


def test_an_error_that_needs_two_steps(browser: WebBrowser, page: str) -> None:
    noise = [click("#add"), *key("Shift"), change("#search", "1")]
    steps = [
        *noise,
        click("#clear"),
        *key("x"),
        {"type": "hover", "selectors": ["#add"]},
        change("#search", "2"),
        *noise,
    ]
    found = minimize(flow(page, *steps), browser, settle_s=SETTLE_S)
    assert described(found) == ["#clear", "#search"]
    assert found.failure.summary.startswith("page error: TypeError")
    assert found.isolation.proof.failing == Rate(3, 3)
    assert found.isolation.complete
    # The baseline, the head alone, the tests of the search, each of the two steps left out once more, the proof.
    assert found.isolation.runs <= 6 + 1 + len(found.isolation.steps) + 2 + 3


def test_a_step_that_another_one_makes_possible_and_a_console_assertion(browser: WebBrowser, page: str) -> None:
    steps = [
        click("#add"),
        change("#search", "1"),
        click("#menu"),
        click("#add"),
        *key("y"),
        click("#add"),
        click("#broken"),
    ]
    found = minimize(flow(page, *steps, click("#menu")), browser, settle_s=SETTLE_S)
    # Any one of the additions will do, before or after the menu.
    assert sorted(described(found)) == ["#add", "#broken", "#menu"]
    assert found.failure.kind == "console assertion"
    assert "too many items" in found.failure.text
    assert found.isolation.proof.failing == Rate(3, 3)


def test_an_assertion_step(browser: WebBrowser, page: str) -> None:
    steps = [click("#add"), click("#clear"), click("#add"), visible("#error", visible=False)]
    hidden = {"type": "waitForExpression", "expression": "document.querySelector('#error').hidden", "timeout": 300}
    found = minimize(flow(page, *steps[:-1], hidden), browser, settle_s=SETTLE_S)
    assert described(found) == ["#clear", "waitForExpression"]
    assert found.failure.kind == "assertion"
    assert found.isolation.proof.failing == Rate(3, 3)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_text_that_is_looked_for(browser: WebBrowser, page: str, algorithm: str) -> None:
    # The page error does not count if a text is given.
    steps = [click("#add"), click("#clear"), change("#search", "1"), click("#add")]
    found = minimize(flow(page, *steps), browser, text="Bad (sum|product)", algorithm=algorithm, settle_s=SETTLE_S)
    assert described(found) == ["#clear"]
    assert found.failure.summary == "text: Bad sum"


def test_a_limit_gives_the_best_so_far(browser: WebBrowser, page: str) -> None:
    steps = [click("#add"), click("#add"), click("#clear"), change("#search", "1")]
    found = minimize(flow(page, *steps), browser, max_tests=1, settle_s=SETTLE_S)
    assert not found.isolation.complete
    assert len(found.isolation.steps) == 1
    assert len(found.flow.steps) >= 4
    assert found.isolation.steps[0].outcome in Outcome


def test_a_page_that_fails_by_itself(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    (tmp_path / "bad.html").write_text("<script>throw Error('at once')</script><button>b", encoding="utf-8")
    found = minimize(flow(f"{site}/bad.html", click("button")), browser, settle_s=SETTLE_S)
    assert described(found) == []
    assert found.isolation.steps == ()
    assert found.isolation.complete
    assert found.isolation.proof.failing == Rate(3, 3)


@pytest.mark.parametrize(
    "steps, error, words",
    [
        ([click("#add"), click("#gone", timeout=100)], DoesNotFailError, "step 4 could not be done"),
        ([click("#add"), visible("#gone")], DoesNotPassError, "without any action"),
    ],
)
def test_flows_that_cannot_be_minimized(
    browser: WebBrowser, page: str, steps: list[dict[str, Any]], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        minimize(flow(page, *steps), browser, settle_s=SETTLE_S)


def test_a_server_that_is_not_running(browser: WebBrowser) -> None:
    with pytest.raises(PageUnreachableError, match="cannot be loaded"):
        minimize(flow("http://127.0.0.1:9/", click("#a")), browser, settle_s=SETTLE_S)

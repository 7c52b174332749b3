"""Minimising flows in a real browser. The defects on these pages are planted; a real one is in tests/demos."""

from __future__ import annotations

import itertools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, PageUnreachableError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS, Rate
from replay_dd.experiment.journal import SearchedFor, kept_in
from replay_dd.outcome import Outcome
from replay_dd.web.browser import WebBrowser
from replay_dd.web.flow import ALGORITHMS
from replay_dd.web.minimize import FlowIsolation, minimize
from tests.web.flows import change, click, flow, key, serving, visible

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


def test_a_journal_knows_what_was_played(browser: WebBrowser, page: str, tmp_path: Path) -> None:
    # The last step fails, some time after it: so the flow is cut off at the same step in both searches.
    steps = [click("#add"), *key("Shift"), click("#add"), click("#clear"), *key("x"), change("#search", "2")]
    counts, answers = [], []
    for _ in range(2):
        with kept_in(tmp_path / "journal", SearchedFor("web", "", {}, {})) as journal:
            answers.append(described(minimize(flow(page, *steps), browser, settle_s=SETTLE_S)))
            counts.append((journal.recalled, journal.added))
    assert answers[0] == answers[1] == ["#clear", "#search"]
    assert counts[0][0] == counts[1][1] == 0
    assert counts[0][1] == counts[1][0] > 0


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


def test_steps_that_could_not_be_done_are_told(browser: WebBrowser, page: str) -> None:
    """The page may have failed because of that, and not as it did for whoever recorded the flow."""
    steps = [click("#gone", timeout=100), click("#add"), click("#clear"), change("#search", "1"), click("#add")]
    found = minimize(flow(page, *steps), browser, settle_s=SETTLE_S)
    (note,) = found.notes
    assert "step 3, its element is not on the page" in note
    assert minimize(flow(page, *steps[1:]), browser, settle_s=SETTLE_S).notes == ()


def test_a_server_that_keeps_what_earlier_runs_did(browser: WebBrowser) -> None:
    loads = itertools.count(1)

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The page, which fails each second time, and after the baseline each time."""
            number = next(loads) if self.path == "/page" else 1
            fails = "<script>none.x</script>" if number % 2 == 0 or number > INTERMITTENT_RUNS else ""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><button id=add>Add</button>{fails}".encode())

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            address = f"http://127.0.0.1:{server.server_port}/page"
            found = minimize(flow(address, click("#add")), browser, settle_s=0)
        finally:
            server.shutdown()
            thread.join()
    assert described(found) == []
    (note,) = found.notes
    assert "keep what earlier runs did" in note


def test_a_script_that_the_page_moves_fails_as_before(browser: WebBrowser) -> None:
    """Each click on `#add` makes the list before the script longer."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The page; a cookie tells how long its list is."""
            items = self.headers.get("Cookie", "").count("x")
            self.send_response(303 if self.path == "/add" else 200)
            self.send_header("Content-Type", "text/html")
            if self.path == "/add":
                self.send_header("Location", "/")
                self.send_header("Set-Cookie", f"items={'x' * (items + 1)}")
            self.end_headers()
            if self.path != "/add":
                script = "document.getElementById('run').onclick = () => none.x;"
                page = f"<a id=add href=/add>Add</a> <a id=run>Run</a>{'<br>' * items}<script>{script}</script>"
                self.wfile.write(f"<!doctype html>{page}".encode())

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with serving(handler=Page) as address:
        found = minimize(flow(f"{address}/", *[click("#add")] * 2, click("#run")), browser, settle_s=SETTLE_S)
    assert described(found) == ["#run"]
    assert Outcome.UNRESOLVED not in {step.outcome for step in found.isolation.steps}


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

"""Minimising flows in a real browser; what a search makes of its playbacks is in `test_search.py`.

The defects on these pages are planted; a real one is in tests/demos.
"""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from replay_dd.experiment.baseline import Rate
from replay_dd.web.browser import WebBrowser
from replay_dd.web.minimize import minimize
from replay_dd.web.player import play
from tests.web.flows import change, click, flow, key, serving, visible
from tests.web.simulated import described

pytestmark = pytest.mark.once

# What fails on these pages fails within this time after the last step, by far.
SETTLE_S = 0.2

# Emptying the list and then searching it raises an error, after a delay.
PAGE = """<!doctype html><button id="add">Add</button><button id="clear">Clear</button><input id="search">
<p id="error" hidden>Bad sum</p><p id="out"></p>
<script>
  let items = [];
  add.onclick = () => { items = items || []; items.push(items.length); out.textContent = items.length };
  clear.onclick = () => { items = null; error.hidden = false };
  search.oninput = () => setTimeout(() => { out.textContent = items.indexOf(search.value) }, 20);
</script>"""


@pytest.fixture
def page(tmp_path: Path, site: str) -> str:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return f"{site}/page.html"


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
    assert described(found.flow.steps) == ["#clear", "#search"]
    assert found.failure.summary.startswith("page error: TypeError")
    assert found.isolation.proof.failing == Rate(3, 3)
    assert found.isolation.complete
    # The baseline, the head alone, the tests of the search, each of the two steps left out once more, the proof.
    assert found.isolation.runs <= 6 + 1 + len(found.isolation.steps) + 2 + 3


def test_an_assertion_step(browser: WebBrowser, page: str) -> None:
    steps = [click("#add"), click("#clear"), click("#add"), visible("#error", visible=False)]
    hidden = {"type": "waitForExpression", "expression": "document.querySelector('#error').hidden", "timeout": 300}
    found = minimize(flow(page, *steps[:-1], hidden), browser, settle_s=SETTLE_S)
    assert described(found.flow.steps) == ["#clear", "waitForExpression"]
    assert found.failure.kind == "assertion"
    assert found.isolation.proof.failing == Rate(3, 3)


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
        twice, once = (play(flow(f"{address}/", *steps, click("#run")), browser) for steps in ([click("#add")] * 2, []))
    (moved,), (first,) = twice.failures, once.failures
    assert moved.same(first)
    assert moved.place != first.place

"""The player carries out the steps in a real browser."""

from __future__ import annotations

import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.web.browser import WebBrowser
from replay_dd.web.failure import ASSERTION, CONSOLE_ASSERTION, CRASH, PAGE_ERROR, TEXT
from replay_dd.web.flow import Flow
from replay_dd.web.learnt import Learnt
from replay_dd.web.player import Limits, Playback, play
from tests.web.flows import change, click, flow, key, serving, visible

PAGE = """<!doctype html><meta charset="utf-8"><title>Page</title>
<button id="save" style="width:50px;height:20px">Save</button>
<input id="name" aria-label="Your name"><input id="yes" type="checkbox">
<select id="size"><option value="s">small</option><option value="l">large</option></select>
<div id="host"></div><div id="box" style="height:40px;overflow:auto"><p style="height:900px">long</p></div>
<p style="height:2000px">tall</p>
<script>
  window.seen = [];
  const note = (...words) => seen.push(words.join(' '));
  host.attachShadow({mode: 'open'}).innerHTML = '<i id="inner">in the shadow</i>';
  for (const type of ['click', 'dblclick', 'contextmenu', 'mouseover', 'change', 'keydown', 'keyup'])
    document.addEventListener(type, event => {
      const at = event.composedPath()[0];
      const more = event.key || (type === 'change' ? (at.type === 'checkbox' ? at.checked : at.value)
        : type === 'click' ? `${event.offsetX},${event.offsetY}` : '');
      note(type, at.id || at.tagName, more);
    });
  document.addEventListener('contextmenu', event => event.preventDefault());
</script>"""


def played(browser: WebBrowser, whole: Flow, **more: Any) -> tuple[Playback, list[str]]:
    """The playback, and what the page saw."""
    seen: list[str] = []
    limits = more.pop("limits", Limits(settle_s=0))
    playback = play(
        whole, browser, limits=limits, at_end=lambda page: seen.extend(page.evaluate("() => window.seen || []")), **more
    )
    return playback, seen


@pytest.fixture
def page(tmp_path: Path, site: str) -> str:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return f"{site}/page.html"


def test_a_page_that_builds_itself_in_the_turns_of_timers_is_waited_for(
    browser: WebBrowser, tmp_path: Path, site: str
) -> None:
    page = """<!doctype html><button id="save">Save</button><script>
      let turns = 0, pieces = [];
      const build = () => {
        document.body.append(pieces[turns] = document.createElement('p'));
        if (++turns < 10) setTimeout(build, 60);
      };
      setTimeout(build, 60);
      save.onclick = () => { pieces[9].id = 'touched'; };
    </script>"""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    playback, _ = played(browser, flow(f"{site}/page.html", click("#save"), visible("#touched")))
    assert (playback.failures, playback.left_out) == ((), ())


def test_a_page_that_never_stops_changing_is_not_waited_for_long(
    browser: WebBrowser, tmp_path: Path, site: str
) -> None:
    page = """<!doctype html><button id="save">Save</button><p id="clock"></p><script>
      setInterval(() => { clock.textContent = performance.now(); }, 10);
      save.onclick = () => { save.id = 'saved'; };
    </script>"""
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    playback, _ = played(browser, flow(f"{site}/page.html", click("#save"), visible("#saved")))
    assert (playback.failures, playback.left_out) == ((), ())


@pytest.mark.parametrize("asks", ["fetch('/news')", "new EventSource('/news')"])
def test_an_answer_that_never_ends_is_waited_for_once_at_most(
    browser: WebBrowser, monkeypatch: pytest.MonkeyPatch, asks: str
) -> None:
    over = threading.Event()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The page, and news that come only at the end of the test."""
            news = self.path == "/news"
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if news else "text/html")
            self.end_headers()
            if news:
                self.wfile.flush()
                over.wait()
            else:
                self.wfile.write(f"<!doctype html><p id=text>Text</p><script>{asks}</script>".encode())

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    # A clock that counts how often the player looks at it: as many times on a busy machine.
    ticks = itertools.count()
    monkeypatch.setattr("replay_dd.web.player.time", SimpleNamespace(monotonic=lambda: float(next(ticks))))
    limits = Limits(quiet_ms=100_000, calm_ms=0, settle_s=0)
    with serving(handler=Site) as address:
        try:
            playback, _ = played(browser, flow(f"{address}/", *[click("#text")] * 5), limits=limits)
        finally:
            over.set()
    assert playback.left_out == ()
    assert next(ticks) // 100 == asks.startswith("fetch")
    assert max(playback.seconds) < 100  # what was waited for in vain says nothing of the step


def test_what_a_person_can_do(browser: WebBrowser, page: str) -> None:
    steps = [
        click("#save"),
        {**click("#save"), "offsetX": 900},  # where the element does not reach, its middle is taken
        {**click("#save"), "type": "doubleClick"},
        {**click("#save"), "button": "secondary"},
        change("#name", "Ada"),
        change("#yes", "on"),
        *key("q"),
        change("#size", "l"),
        {"type": "hover", "selectors": [["#host", "#inner"]]},
        {"type": "scroll", "selectors": [["#box"]], "y": 70},
        {"type": "scroll", "y": 55},
        {"type": "waitForExpression", "expression": "box.scrollTop === 70 && scrollY === 55"},
    ]
    playback, seen = played(browser, flow(page, *steps))
    assert playback.failures == ()
    assert playback.left_out == ()
    assert playback.reached
    # The path of the pointer is up to the browser.
    done = [one.strip() for one in seen if not one.startswith(("mouseover", "click yes")) or "inner" in one]
    assert done == [
        "click save 4,4",
        "click save 23,8",
        "click save 4,4",
        "click save 4,4",
        "dblclick save",
        "contextmenu save",
        *(f"{event} name {letter}" for letter in "Ada" for event in ("keydown", "keyup")),
        "change name Ada",
        "change yes true",
        "keydown yes q",
        "keyup yes q",
        "change size l",
        "mouseover inner",
    ]


@pytest.mark.parametrize(
    "selectors",
    [
        [["aria/Save"]],
        [['aria/Save[role="button"]']],
        [['aria/[role="button"]']],
        [["xpath///*[@id='save']"]],
        [["text/Save"]],
        [["pierce/#save"]],
        ["#save"],
        [["#was-renamed"], ["#save"]],
    ],
    ids=str,
)
def test_ways_to_an_element(browser: WebBrowser, page: str, selectors: Any) -> None:
    playback, seen = played(browser, flow(page, {**click("#x"), "selectors": selectors}))
    assert playback.left_out == ()
    assert "click save 4,4" in seen


def test_a_named_field_and_a_frame(browser: WebBrowser, page: str, tmp_path: Path, site: str) -> None:
    (tmp_path / "outer.html").write_text('<p>outer</p><iframe src="page.html"></iframe>', encoding="utf-8")
    inside = visible("#name", properties={"value": "Ada"}, frame=[0])
    steps = [{**change("aria/Your name", "Ada"), "frame": [0]}, inside, {**click("#save"), "frame": [1]}]
    playback, _ = played(browser, flow(f"{site}/outer.html", *steps))
    assert playback.failures == ()
    assert playback.left_out == ((4, "its frame is not there"),)


def test_a_file_is_uploaded_by_its_name_and_without_its_contents(
    browser: WebBrowser, tmp_path: Path, site: str
) -> None:
    (tmp_path / "secret.txt").write_text("a secret")
    (tmp_path / "page.html").write_text(
        "<input id=file type=file><script>window.seen = []; file.onchange = async () => {"
        " for (const one of file.files) seen.push(one.name + ':' + await one.text()); seen.push(file.files.length) }"
        "</script>",
        encoding="utf-8",
    )
    names = [r"C:\fakepath\data.txt", str(tmp_path / "secret.txt"), ""]
    playback, seen = played(browser, flow(f"{site}/page.html", *(change("#file", name) for name in names)))
    assert playback.left_out == ()
    assert seen == ["data.txt:", 1, "secret.txt:", 1, 0]


@pytest.mark.parametrize(
    "style, words",
    [("visibility: hidden", "its element is not visible"), ("", "its element is covered by another one")],
)
def test_an_element_that_cannot_be_used_is_told_in_words(
    browser: WebBrowser, tmp_path: Path, site: str, style: str, words: str
) -> None:
    cover = '<div style="position: fixed; inset: 0">'
    (tmp_path / "page.html").write_text(f'<button id="save" style="{style}">Save</button>{cover}', encoding="utf-8")
    playback, _ = played(browser, flow(f"{site}/page.html", click("#save", timeout=600)))
    assert [why for _, why in playback.left_out] == [words]


def test_what_cannot_be_done_is_left_out_and_the_rest_is_done(browser: WebBrowser, page: str) -> None:
    steps = [click("#missing"), {**click("#save"), "button": "back"}, click("#save"), click("#a[[")]
    playback, seen = played(browser, flow(page, *steps), limits=Limits(steps_ms=(1000,) * 20, settle_s=0))
    assert [number for number, _ in playback.left_out] == [2, 3, 5]
    assert "click save 4,4" in seen


@pytest.mark.parametrize(
    "step, fails",
    [
        (visible("#save"), False),
        (visible("#missing"), True),
        (visible("#missing", visible=False), False),
        (visible("#save", visible=False), True),
        (visible("option", operator="==", count=2), False),
        (visible("option", operator="<=", count=1), True),
        (visible("#save", attributes={"id": "save"}), False),
        (visible("#save", attributes={"id": "other"}), True),
        ({"type": "waitForExpression", "expression": "document.title === 'Page'"}, False),
        ({"type": "waitForExpression", "expression": "no_such_name", "timeout": 200}, True),
        ({"type": "waitForExpression", "expression": "1 > 2", "timeout": 200}, True),
    ],
)
def test_assertions(browser: WebBrowser, page: str, step: dict[str, Any], fails: bool) -> None:
    playback, _ = played(browser, flow(page, step))
    assert [failure.kind for failure in playback.failures] == [ASSERTION] * fails
    assert playback.left_out == ()


def test_what_a_page_does_wrong(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    (tmp_path / "bad.html").write_text(
        """<script>
        setTimeout(() => console.assert(1 > 2, 'arithmetic'), 5);
        setTimeout(() => Promise.reject(new RangeError('too far')), 10);
        setTimeout(() => { document.body.append('Internal error 500') }, 15);
        </script><body>""",
        encoding="utf-8",
    )
    whole = flow(f"{site}/bad.html")
    until_text = lambda failure: failure.kind == TEXT  # noqa: E731
    playback, _ = played(browser, whole, text="[Ee]rror \\d+", limits=Limits(settle_s=60), until=until_text)
    failures = {failure.kind: failure for failure in playback.failures}
    assert failures[CONSOLE_ASSERTION].text.endswith("arithmetic")
    assert failures[PAGE_ERROR].summary == "page error: RangeError: too far (/bad.html:3:41)"
    assert failures[TEXT].text == "error 500"


def test_each_flow_begins_with_nothing(browser: WebBrowser, page: str) -> None:
    remember = {"type": "waitForExpression", "expression": "localStorage.seen ? false : (localStorage.seen = 1)"}
    for _ in range(2):
        playback, _ = played(browser, flow(page, {**remember, "timeout": 2000}))
        assert playback.failures == ()


def test_a_dialog_is_answered(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    (tmp_path / "ask.html").write_text(
        "<button onclick=\"window.seen=[confirm('?') + ' ' + prompt('?', 'x')]\">ask", "utf-8"
    )
    _, seen = played(browser, flow(f"{site}/ask.html", click("button")))
    assert seen == ["true x"]


def test_another_page_and_its_end(browser: WebBrowser, page: str, tmp_path: Path, site: str) -> None:
    (tmp_path / "opener.html").write_text(f"<button onclick=\"window.open('{page}')\">open", encoding="utf-8")
    steps = [click("button"), {**click("#save"), "target": page}, {"type": "close", "target": page}, click("button")]
    playback, _ = played(browser, flow(f"{site}/opener.html", *steps))
    assert playback.left_out == ()
    missing = {**click("#save"), "target": "http://127.0.0.1/nowhere"}
    playback, _ = played(browser, flow(f"{site}/opener.html", missing), limits=Limits(steps_ms=(50,) * 20, settle_s=0))
    assert playback.left_out == ((2, "no page has the address http://127.0.0.1/nowhere"),)


def test_a_page_of_a_similar_address_is_taken_after_the_time_of_the_step(
    browser: WebBrowser, page: str, tmp_path: Path, site: str
) -> None:
    (tmp_path / "opener.html").write_text(f"<button onclick=\"window.open('{page}?n=17')\">open", encoding="utf-8")
    whole = flow(f"{site}/opener.html", click("button"), {**click("#save"), "target": f"{page}?n=5", "timeout": 3000})
    learnt = Learnt()
    playback, seen = played(browser, whole, learnt=learnt)
    assert playback.left_out == ()
    assert "click save 4,4" in seen
    assert learnt.differing_windows == {f"{page}?n=5"}


def test_a_crash_of_the_page_is_seen_and_survived(browser: WebBrowser, page: str) -> None:
    # Chromium's address for testing this; a browser bug would do the same.
    crash = {"type": "navigate", "url": "chrome://crash"}
    playback, _ = played(browser, flow(page, click("#save"), crash, click("#save")))
    assert CRASH in [failure.kind for failure in playback.failures]
    after, seen = played(browser, flow(page, click("#save")))
    assert after.failures == ()
    assert "click save 4,4" in seen


def test_a_page_that_is_not_there(browser: WebBrowser) -> None:
    playback, _ = played(browser, flow("http://127.0.0.1:9/"))
    assert not playback.reached
    assert playback.left_out[0][0] == 1


def test_a_failure_ends_the_playback_at_once(browser: WebBrowser, page: str) -> None:
    steps = [
        {"type": "waitForExpression", "expression": "setTimeout(() => { throw Error('late') }, 0)"},
        *key("a"),
        *key("b"),
    ]
    playback, seen = played(browser, flow(page, *steps), until=lambda failure: failure.kind == PAGE_ERROR)
    assert [failure.step for failure in playback.failures] == [2]
    assert not [one for one in seen if "b" in one.split()]
    assert json.dumps(playback.seconds).count(",") == 2


def test_errors_in_the_console_are_kept_and_can_be_the_failure(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    page = "<!doctype html><button id=go>Go</button><script>go.onclick = () => console.error('Bad sum: 7')</script>"
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    whole = flow(f"{site}/page.html", *[click("#go")] * 2)
    playback, _ = played(browser, whole)
    assert playback.failures == ()
    assert playback.console.count("Bad sum: 7") == 1
    playback, _ = played(browser, whole, text="sum: .", until=lambda failure: True)
    (failure,) = playback.failures
    assert (failure.kind, failure.text, failure.step) == (TEXT, "sum: 7", 2)
    assert "/page.html:1" in failure.details


def test_pauses_do_not_wait_for_what_the_page_loads(browser: WebBrowser) -> None:
    release = threading.Event()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """The page, and an answer that comes only when another one was asked for."""
            if self.path == "/late":
                release.wait(60)
            elif self.path == "/next":
                release.set()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            if self.path == "/":
                self.wfile.write(
                    b"<!doctype html><button id=load>Load</button><button id=leave>Leave</button><script>"
                    b"load.onclick = async () => { await fetch('/late'); load.firstChild.data.length };"
                    b"leave.onclick = () => { load.replaceChildren(); fetch('/next') }</script>"
                )

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    background: set[str] = set()
    limits = Limits(quiet_ms=30_000, pause_s=0, settle_s=0.1)
    with serving(handler=Site) as address:
        whole = flow(f"{address}/", click("#load"), click("#leave"))
        playback, _ = played(browser, whole, limits=limits, learnt=Learnt(background))
    assert [failure.kind for failure in playback.failures] == [PAGE_ERROR]
    assert background == set()

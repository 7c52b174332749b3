"""Pages that no longer respond."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Error as PlaywrightError

from replay_dd.web.browser import WebBrowser
from replay_dd.web.failure import HANG
from replay_dd.web.hangs import LONGEST_WAIT_S, Call, HangWatch, Patience, Stack, hang
from replay_dd.web.player import Limits, play
from tests.web.flows import click, flow

pytestmark = pytest.mark.once

PAGE = """<!doctype html><button id="spin">Spin</button><button id="other">Other</button>
<script>
  function loop() { for (window.turns = 0;;) turns++ }
  spin.onclick = () => setTimeout(function onSpin() { loop() });
  other.onclick = () => { debugger; other.id = 'done' };
</script>"""


@pytest.mark.parametrize("before", [(), ("#other",)])
def test_an_endless_loop_ends_the_playback(
    browser: WebBrowser, tmp_path: Path, site: str, before: tuple[str, ...]
) -> None:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    steps = [click(button) for button in (*before, "#spin", "#missing")]
    playback = play(flow(f"{site}/page.html", *steps), browser, limits=Limits(hang_s=0.5))
    assert playback.left_out == ()
    (failure,) = playback.failures
    assert (failure.kind, failure.step) == (HANG, 2 + len(before))
    assert failure.place.startswith("in loop (/page.html:3:")
    assert "at onSpin (/page.html:4:" in failure.details


def test_without_the_debugger_a_loop_ends_the_playback_too(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    steps = [click("#spin"), click("#missing")]
    playback = play(flow(f"{site}/page.html", *steps), browser, limits=Limits(hang_s=0.5), tells_where=False)
    (failure,) = playback.failures
    assert (failure.kind, failure.step, failure.place, playback.left_out) == (HANG, 2, "", ())


def test_a_loop_that_begins_while_playwright_waits_inside_the_page(
    browser: WebBrowser, tmp_path: Path, site: str
) -> None:
    """No time-out ends that call, and only the watch beside it can tell where the loop is."""
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    stacks: list[Stack] = []
    killer = browser.killer()
    with browser.fresh_context(None) as context, killer.after(LONGEST_WAIT_S):
        page = context.new_page()
        watch = HangWatch(page, lambda: Patience(browser.worked_s, 0.5, lambda: False), killer, stacks.append)
        page.goto(f"{site}/page.html")
        with pytest.raises(PlaywrightError):
            page.evaluate("() => new Promise(() => setTimeout(loop))")
        assert not killer.killed
        assert page.is_closed()
    assert [(call.function, call.line) for call in stacks[0]] == [("loop", 3)]
    while not watch.is_over:
        browser.worked_s()


def test_where_a_page_hangs_is_told_by_its_calls() -> None:
    calls = (Call("loop", "http://127.0.0.1:1/page.html", 3, 7), Call("", "http://127.0.0.1:1/page.html", 4, 9))
    failure = hang(calls, 2)
    assert (failure.kind, failure.step, failure.place) == (HANG, 2, "in loop (/page.html:3:7)")
    assert failure.details.endswith("at loop (/page.html:3:7)\n    at anonymous (/page.html:4:9)")
    assert hang((), 2).place == ""


def test_a_call_that_is_never_answered_is_ended(browser: WebBrowser) -> None:
    killer = browser.killer()
    with browser.fresh_context(None) as context:
        page = context.new_page()
        with pytest.raises(PlaywrightError), killer.after(0.1):
            page.evaluate("() => { for (;;); }")
    assert killer.killed
    with browser.fresh_context(None) as context, browser.killer().after(LONGEST_WAIT_S):
        assert context.new_page().evaluate("() => 1 + 1") == 2


@pytest.mark.parametrize(
    ("worked_s", "at_s", "expected"),
    [
        (7.0, 1.0, True),
        # It has worked for long, but not enough: the machine is busy.
        (6.9, 50.0, False),
        # It does not work at all.
        (5.0, LONGEST_WAIT_S - 1, False),
        (5.0, LONGEST_WAIT_S, True),
    ],
)
@pytest.mark.parametrize("loads", [False, True])
def test_a_page_hangs_if_it_works_for_long_or_waits_for_very_long(
    monkeypatch: pytest.MonkeyPatch, worked_s: float, at_s: float, expected: bool, loads: bool
) -> None:
    worked, clock = iter([5.0, worked_s]), iter([0.0, at_s])
    monkeypatch.setattr("replay_dd.web.hangs.time", SimpleNamespace(monotonic=lambda: next(clock)))
    patience = Patience(lambda: next(worked), 2.0, lambda: loads)
    assert patience.is_over is (expected and not loads)

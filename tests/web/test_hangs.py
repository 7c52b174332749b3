"""Pages that no longer respond."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from replay_dd.web import player
from replay_dd.web.browser import WebBrowser
from replay_dd.web.failure import HANG
from replay_dd.web.hangs import LONGEST_WAIT_S, Call, Debugger, hang, responds
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
    browser: WebBrowser, tmp_path: Path, site: str, before: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is cannot be told if Playwright waits inside the page when the loop begins: the page is killed then."""
    monkeypatch.setattr(player, "_ANSWER_S", 20.0)
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    steps = [click(button) for button in (*before, "#spin", "#missing")]
    playback = play(flow(f"{site}/page.html", *steps), browser, limits=Limits(hang_s=0.5))
    assert playback.left_out == ()
    (failure,) = playback.failures
    assert (failure.kind, failure.step) == (HANG, 2 + len(before))
    if failure.place:
        assert failure.place.startswith("in loop (/page.html:3:")
        assert "at onSpin (/page.html:4:" in failure.details


def test_the_debugger_tells_what_a_loop_does(browser: WebBrowser, tmp_path: Path, site: str) -> None:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    with browser.fresh_context(None) as context, browser.killer().after(LONGEST_WAIT_S):
        page = context.new_page()
        debugger = Debugger(page)
        page.goto(f"{site}/page.html")
        page.evaluate("() => { setTimeout(loop) }")  # answered before the loop begins
        assert not responds(page, browser.worked_s, 0.5)
        assert [(call.function, call.line) for call in debugger.stack()] == [("loop", 3)]


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


def _asked(answers: Iterable[bool]) -> tuple[Any, list[float]]:
    """A page that answers or not, as told, and the time-outs that it was given in milliseconds."""
    left, limits = iter(answers), []

    def wait_for_function(expression: str, *, timeout: float) -> None:
        limits.append(timeout)
        if not next(left):
            raise PlaywrightTimeoutError("too late")

    return SimpleNamespace(wait_for_function=wait_for_function), limits


@pytest.mark.parametrize(
    ("answers", "worked_s", "at_s", "expected"),
    [
        ([True], [5.0], [0.0], True),
        # It has worked for long, but not enough: the machine is busy.
        ([False, False, True], [5.0, 5.5, 6.9], itertools.count(), True),
        ([False, False], [5.0, 5.5, 7.0], itertools.count(), False),
        # It does not work at all.
        ([False, False], itertools.repeat(5.0), [0.0, 1.0, LONGEST_WAIT_S], False),
    ],
)
def test_a_page_hangs_if_it_works_for_long_or_waits_for_very_long(
    monkeypatch: pytest.MonkeyPatch,
    answers: list[bool],
    worked_s: Iterable[float],
    at_s: Iterable[float],
    expected: bool,
) -> None:
    worked, clock = iter(worked_s), iter(at_s)
    monkeypatch.setattr("replay_dd.web.hangs.time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    page, limits = _asked(answers)
    assert responds(page, lambda: next(worked), 2.0) is expected
    assert limits == [2000.0] * len(answers)

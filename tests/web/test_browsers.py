"""Several browsers at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from typing import Any, cast

import pytest

from replay_dd.errors.machine import BrowserFailedError
from replay_dd.experiment.process import LIVE
from replay_dd.web.browser import WebBrowser
from replay_dd.web.browsers import Browsers
from replay_dd.web.player import play
from tests.web.flows import click, flow, serving

pytestmark = pytest.mark.once

# Far more than anything here takes.
LIMIT_S = 120.0


class Simulated:
    """A browser that only notes in which threads it is started, used and closed."""

    made: list[Simulated]
    broken: set[int]
    without_sandbox = ""

    def __init__(self, executable: object = None) -> None:
        self.threads: list[int] = []
        self.killed = threading.Event()
        self.closed = False
        self.number = len(self.made)
        self.made.append(self)

    def __enter__(self) -> Simulated:
        self.note()
        if self.number in self.broken:
            raise BrowserFailedError("It does not start.")
        return self

    def __exit__(self, *given: object) -> None:
        self.note()
        self.closed = True

    def note(self) -> None:
        self.threads.append(threading.get_ident())

    def kill(self) -> None:
        self.killed.set()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Simulated]:
    """The simulated browsers that are made from now on."""
    Simulated.made, Simulated.broken = [], set()
    monkeypatch.setattr("replay_dd.web.browsers.WebBrowser", Simulated)
    return Simulated.made


def at_once(browsers: Browsers, *works: Callable[[Any], object]) -> list[object]:
    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(browsers.use, works))


def test_each_browser_stays_in_a_thread_of_its_own(made: list[Simulated]) -> None:
    meeting = threading.Barrier(2, timeout=LIMIT_S)

    def work(browser: Simulated) -> int:
        browser.note()
        meeting.wait()
        return browser.number

    with Browsers(2) as browsers:
        assert sorted(map(str, at_once(browsers, work, work))) == ["0", "1"]
    assert [len(set(browser.threads)) for browser in made] == [1, 1]
    assert made[0].threads[0] != made[1].threads[0]
    assert all(browser.closed and not browser.killed.is_set() for browser in made)


def test_what_a_browser_raises_is_raised_and_it_is_used_again(made: list[Simulated]) -> None:
    with Browsers(1) as browsers:
        with pytest.raises(ZeroDivisionError):
            browsers.use(lambda browser: 1 // 0)
        assert browsers.use(lambda browser: browser is cast(object, made[0]))


def test_one_that_does_not_start_closes_all(made: list[Simulated]) -> None:
    Simulated.broken = {1}
    with pytest.raises(BrowserFailedError), Browsers(3):
        raise AssertionError("one is broken")
    assert all(browser.closed for browser in made)


@pytest.mark.parametrize("interrupted", ["others", "itself"])
def test_an_interrupt_ends_what_is_played(made: list[Simulated], interrupted: str) -> None:
    def work(browser: Any) -> bool:
        if interrupted == "itself":
            raise KeyboardInterrupt
        LIVE.kill_all()
        return bool(browser.killed.wait(LIMIT_S))

    with LIVE.reopened_after(), Browsers(1) as browsers:
        if interrupted == "itself":
            with pytest.raises(KeyboardInterrupt):
                browsers.use(work)
        else:
            assert browsers.use(work)
    assert made[0].killed.is_set()


def test_two_flows_are_played_at_the_same_time(browser: WebBrowser) -> None:
    """Each page is answered only when the other one asks, too."""
    meeting = threading.Barrier(2, timeout=LIMIT_S)

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """A page that fails if it is clicked."""
            if self.path in {"/a", "/b"}:
                meeting.wait()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><button onclick='none.x'>Fail</button>")

        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    with serving(handler=Page) as address, Browsers(2) as browsers:
        flows = [flow(f"{address}/{name}", click("button")) for name in "ab"]
        played = at_once(browsers, *((lambda one, which=each: play(which, one)) for each in flows))
    assert [[failure.kind for failure in playback.failures] for playback in played] == [["page error"]] * 2  # type: ignore[attr-defined]

"""Pages that no longer respond: tells endless loops from slow answers, and ends them.

Rules of this module:

* A page hangs if it does not answer while its process works for some seconds *of processor time*: on a busy
  machine a page that merely computes gets as much time as on an idle one. A page that waits without working, for a
  synchronous request say, has :data:`LONGEST_WAIT_S` of real time.
* Where it hangs is asked of the browser's debugger, which interrupts scripts; statements `debugger` stop nothing. If
  the loop begins while Playwright already waits inside the page, that wait ignores its time-out, and nothing can be
  asked: the page is killed in the end, and only that is told.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeoutError

from replay_dd.web.failure import HANG, Failure, path_of

HANG_S = 3.0
LONGEST_WAIT_S = 60.0
HANGS = "the page no longer responds"
_STACK_S = 5.0


class Call(NamedTuple):
    """A call of a function that has not returned: the function, and where it is in which script, from 1."""

    function: str
    url: str
    line: int
    column: int


Stack = tuple[Call, ...]
"""Calls, the innermost first."""


class Debugger:
    """The debugger of a page.

    Args:
        page: the page, before it has any script.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._scripts: dict[str, str] = {}
        self._stack: Stack | None = None
        self._session = page.context.new_cdp_session(page)
        self._session.on("Debugger.scriptParsed", self._on_script)
        self._session.on("Debugger.paused", self._on_paused)
        self._session.send("Debugger.enable")
        self._session.send("Debugger.setBreakpointsActive", {"active": False})

    def stack(self) -> Stack:
        """What the page is doing, if that can be told; it stays stopped there."""
        with contextlib.suppress(PlaywrightError):
            self._session.send("Debugger.pause")
            ends_at = time.monotonic() + _STACK_S
            while self._stack is None and time.monotonic() < ends_at:
                self._page.context.cookies()  # events arrive while Playwright is called, and this needs no page
        return self._stack or ()

    def _on_script(self, event: dict[str, Any]) -> None:
        self._scripts[event["scriptId"]] = event["url"]

    def _on_paused(self, event: dict[str, Any]) -> None:
        self._stack = tuple(
            Call(
                call["functionName"],
                self._scripts.get(at["scriptId"], ""),
                at["lineNumber"] + 1,
                at["columnNumber"] + 1,
            )
            for call in event["callFrames"]
            for at in [call["location"]]
        )


def responds(page: Page, worked_s: Callable[[], float], hang_s: float) -> bool:
    """Whether a page answers, before it hangs.

    Args:
        page: the page.
        worked_s: returns for how long processes of pages have worked so far, in seconds of processor time.
        hang_s: how long its process may work meanwhile.

    Raises:
        playwright.sync_api.Error: the page or the browser went away.
    """
    started, worked_before = time.monotonic(), worked_s()
    while True:
        try:
            page.wait_for_function("() => true", timeout=1000 * hang_s)
        except PlaywrightTimeoutError:
            if worked_s() - worked_before >= hang_s or time.monotonic() - started >= LONGEST_WAIT_S:
                return False
        else:
            return True


def hang(stack: Stack, step: int) -> Failure:
    """The failure of a page that no longer responds.

    Args:
        stack: its script's calls.
        step: the number of the step after which it was seen.
    """
    calls = [f"{call.function or 'anonymous'} ({path_of(call.url)}:{call.line}:{call.column})" for call in stack]
    details = "\n".join([HANGS, *(f"    at {call}" for call in calls)])
    return Failure(HANG, HANGS, f"in {calls[0]}" if calls else "", details, step)

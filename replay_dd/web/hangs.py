"""Pages that no longer respond: tells endless loops from slow answers, and where they are.

Rules of this module:

* A page hangs if it does not answer while its process works for some seconds *of processor time*: on a busy
  machine a page that merely computes gets as much time as on an idle one. A page that waits without working, for a
  synchronous request say, has :data:`LONGEST_WAIT_S` of real time.
* It is asked beside the playback, which may already wait inside the page when a loop begins: most of Playwright's calls
  have no time-out, and others ignore theirs then. A handler of an event may wait, too, while everything else goes on.
  So two handlers last as long as the page: one asks it again and again, the other looks at how long an answer takes.
* Where it hangs is asked of the browser's debugger, which interrupts scripts; statements `debugger` stop nothing. It
  has to be attached before the page has any script, and makes each page slower, so it is only where that is asked.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page

from replay_dd.web.failure import HANG, Failure, path_of
from replay_dd.web.renderers import RendererKiller

HANG_S = 3.0
LONGEST_WAIT_S = 60.0
HANGS = "the page no longer responds"
END_S = 5.0
"""For a watch to notice that its page was closed."""
_ASK_MS = 250.0
_POLL_MS = 5.0
_STACK_S = 5.0


class Call(NamedTuple):
    """A call of a function that has not returned: the function, and where it is in which script, from 1."""

    function: str
    url: str
    line: int
    column: int


Stack = tuple[Call, ...]
"""Calls, the innermost first."""


class Inspector:
    """A connection of our own to a page, and perhaps its debugger.

    Args:
        page: the page.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._scripts: dict[str, str] = {}
        self._on_pause: Callable[[Stack], None] | None = None
        self._is_paused = False
        self._session = page.context.new_cdp_session(page)

    def attach_debugger(self, on_pause: Callable[[Stack], None]) -> None:
        """Attach the debugger, before the page has any script.

        Args:
            on_pause: called with what the page is doing when it was stopped, before it answers anything else.
        """
        self._on_pause = on_pause
        self._session.on("Debugger.scriptParsed", self._on_script)
        self._session.on("Debugger.paused", self._on_paused)
        self._session.send("Debugger.enable")
        self._session.send("Debugger.setBreakpointsActive", {"active": False})

    def ask(self) -> None:
        """Wait until the page answers; to go elsewhere or away is an answer, too."""
        with contextlib.suppress(PlaywrightError):
            self._session.send("Runtime.evaluate", {"expression": "0"})

    def pause(self) -> None:
        """Stop the page, if it can be stopped: only the debugger does."""
        if self._on_pause is None:
            return
        with contextlib.suppress(PlaywrightError):
            self._session.send("Debugger.pause")
            ends_at = time.monotonic() + _STACK_S
            while not self._is_paused and time.monotonic() < ends_at:
                self._page.wait_for_timeout(_POLL_MS)

    def beside(self, work: Callable[[], None]) -> None:
        """Let a function go on whenever Playwright is called: it handles an event that is caused here."""
        self._session.once("Runtime.executionContextCreated", lambda _: work())
        self._session.send("Runtime.enable")
        self._session.send("Runtime.disable")

    def _on_script(self, event: dict[str, Any]) -> None:
        self._scripts[event["scriptId"]] = event["url"]

    def _on_paused(self, event: dict[str, Any]) -> None:
        self._is_paused = True
        calls = [(call["functionName"], call["location"]) for call in event["callFrames"]]
        assert self._on_pause is not None
        self._on_pause(
            tuple(
                Call(function, self._scripts.get(at["scriptId"], ""), at["lineNumber"] + 1, at["columnNumber"] + 1)
                for function, at in calls
            )
        )


class Patience:
    """How long the answer to one question may take.

    Args:
        worked_s: returns for how long processes of pages have worked so far, in seconds of processor time.
        hang_s: how long they may work meanwhile.
        loads: returns whether the page is being loaded, for which it may take its time.
    """

    def __init__(self, worked_s: Callable[[], float], hang_s: float, loads: Callable[[], bool]) -> None:
        self._worked_s = worked_s
        self._hang_s = hang_s
        self._loads = loads
        self._started = time.monotonic()
        self._worked_before = worked_s()

    @property
    def is_over(self) -> bool:
        """Whether a page that has still not answered hangs."""
        if self._loads():
            return False
        return self.took_s >= self._hang_s or time.monotonic() - self._started >= LONGEST_WAIT_S

    @property
    def took_s(self) -> float:
        """For how long the processes have worked since."""
        return self._worked_s() - self._worked_before


class HangWatch:
    """Watches a page, and closes all pages of its context if it hangs, which ends whatever waits for them.

    Args:
        page: the page, before it has any script.
        new_patience: returns how long an answer may take that did not come at once.
        killer: ends a page that cannot even be interrupted.
        on_hang: called with what the page does that hangs, if that can be told, and then with nothing.
        tells_where: whether that can be told, which makes the page slower.

    Attributes:
        slowest_s: for how long processes of pages worked during the slowest answer, in seconds of processor time.
    """

    def __init__(
        self,
        page: Page,
        new_patience: Callable[[], Patience],
        killer: RendererKiller,
        on_hang: Callable[[Stack], None],
        *,
        tells_where: bool = True,
    ) -> None:
        self._page = page
        self._new_patience = new_patience
        self._killer = killer
        self._on_hang = on_hang
        self.slowest_s = 0.0
        self._asked = self._answered = 0
        self._at_work = 0
        self._inspector = Inspector(page)
        if tells_where:
            self._inspector.attach_debugger(on_hang)
        for work in (self._ask, self._look):
            self._inspector.beside(self._until_it_is_closed(work))

    @property
    def is_over(self) -> bool:
        """Whether the page is closed, and the watch has noticed."""
        return not self._at_work

    def check(self) -> None:
        """Wait until the page answers, hangs or goes away."""
        self._inspector.ask()

    def _until_it_is_closed(self, work: Callable[[], None]) -> Callable[[], None]:
        def handler() -> None:
            self._at_work += 1
            try:
                with contextlib.suppress(PlaywrightError):
                    work()
            finally:
                self._at_work -= 1

        return handler

    def _ask(self) -> None:
        while not self._page.is_closed():
            self._asked += 1
            self._inspector.ask()
            self._answered += 1
            self._page.wait_for_timeout(_ASK_MS)

    def _look(self) -> None:
        question, patience = 0, None
        while patience is None or not patience.is_over:
            self._page.wait_for_timeout(_ASK_MS)
            if patience is not None and self._answered >= question:
                self.slowest_s, patience = max(self.slowest_s, patience.took_s), None
            if patience is None and self._answered < self._asked:
                question, patience = self._asked, self._new_patience()
        with self._killer.after(_STACK_S):
            self._inspector.pause()
        self._on_hang(())
        for page in self._page.context.pages:
            page.close()


def hang(stack: Stack, step: int) -> Failure:
    """The failure of a page that no longer responds.

    Args:
        stack: its script's calls.
        step: the number of the step after which it was seen.
    """
    calls = [f"{call.function or 'anonymous'} ({path_of(call.url)}:{call.line}:{call.column})" for call in stack]
    details = "\n".join([HANGS, *(f"    at {call}" for call in calls)])
    return Failure(HANG, HANGS, f"in {calls[0]}" if calls else "", details, step)

"""The page of `test_minimize.py`, simulated: what a search makes of its playbacks needs no browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from replay_dd.web.failure import ASSERTION, CONSOLE_ASSERTION, TEXT, Failure, page_error
from replay_dd.web.flow import Flow, Step
from replay_dd.web.player import Playback

T = TypeVar("T")


class NoBrowser:
    """Stands where a browser is asked for."""

    count = 1
    starts_server = False

    def use(self, work: Callable[[Any], T]) -> T:
        """Work with this one."""
        return work(self)


@dataclass
class SimulatedPage:
    """Plays flows to the page.

    Attributes:
        fails_at: for each load, counted from 1, whether a script of the page fails at once.
        is_there: whether the server answers.
        sends: whether it sends to the server what is added.
        loads: how often it was loaded.
    """

    fails_at: Callable[[int], bool] = lambda number: False
    is_there: bool = True
    sends: bool = False
    loads: int = 0
    _items: int | None = 0
    _menu: bool = False
    _failures: list[Failure] = field(default_factory=list)

    def play(
        self,
        flow: Flow,
        browser: object,
        *,
        until: Callable[[Failure], bool] = lambda failure: False,
        text: str | None = None,
        **_: object,
    ) -> Playback:
        """What :func:`replay_dd.web.player.play` would return."""
        self._items, self._menu, self._failures = 0, False, []
        if not self.is_there:
            return Playback((), ((1, "net::ERR_CONNECTION_REFUSED"),), (0.0,) * len(flow.steps), reached=False)
        self.loads += 1
        left_out: list[tuple[int, str]] = []
        for number, step in enumerate(flow.steps):
            before = len(self._failures)
            if step.type == "navigate" and self.fails_at(self.loads):
                self._failures.append(_error(number, 1))
            elif not self._do(step, number):
                left_out.append((number, "its element is not on the page"))
            if text is not None and self._items is None and re.search(text, "Bad sum"):
                self._failures.append(Failure(TEXT, "Bad sum", "", "", number))
            if any(map(until, self._failures[before:])):
                break
        adds = sum(bool(step.selectors) and step.selectors[0][0] == "#add" for step in flow.steps)
        sent = ("POST /add",) * adds if self.sends else ()
        return Playback(tuple(self._failures), tuple(left_out), (0.0,) * len(flow.steps), reached=True, sent=sent)

    def _do(self, step: Step, number: int) -> bool:
        selector = step.selectors[0][0] if step.selectors else ""
        match step.type, selector:
            case "waitForElement", _:
                self._failures.append(Failure(ASSERTION, f"{selector} is not there", "", "", number))
            case _, "#gone":
                return False
            case "click", "#add":
                self._items = (self._items or 0) + 1
            case "click", "#clear":
                self._items = None
            case "click", "#menu":
                self._menu = not self._menu
            case "click", "#broken":
                if self._menu and self._items:
                    self._failures.append(Failure(CONSOLE_ASSERTION, "too many items", "", "", number))
                return self._menu
            case "change", "#search" if self._items is None:
                self._failures.append(_error(number, 7))
        return True


def _error(step: int, line: int) -> Failure:
    return page_error("TypeError", "no items", f"TypeError: no items\n    at http://x/page.js:{line}:1", step)


def described(steps: Sequence[Step]) -> list[str]:
    """What a flow does after the page has loaded."""
    return [str(step.data.get("selectors", [[step.type]])[0][0]) for step in steps[2:]]

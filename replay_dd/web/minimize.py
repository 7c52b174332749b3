"""Makes a failing flow small: as few steps as still fail, each test in a fresh context of the browser.

Bisection of prefixes asks for fewer tests than ddmin where few steps matter, so it comes first. The answer of both is
1-minimal: with any one step less, the flow was seen not to fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.result import Isolation
from replay_dd.web.browser import WebBrowser
from replay_dd.web.circumstance import FlowRun, FlowSteps, failure_of
from replay_dd.web.failure import Failure
from replay_dd.web.flow import ALGORITHMS, Flow
from replay_dd.web.player import Limits


@dataclass(frozen=True, slots=True)
class FlowIsolation:
    """What makes a flow fail.

    Attributes:
        isolation: the driver's result; its deltas are steps.
        whole: the flow as it was given.
        flow: the smallest failing flow found.
        kept: the numbers of its steps in the flow given.
        failure: its failure.
    """

    isolation: Isolation[FlowRun]
    whole: Flow
    flow: Flow
    kept: tuple[int, ...]
    failure: Failure


def minimize(
    flow: Flow,
    browser: WebBrowser,
    *,
    text: str | None = None,
    settle_s: float = Limits().settle_s,
    algorithm: str = ALGORITHMS[0],
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    observer: Observer = NO_OBSERVER,
) -> FlowIsolation:
    """Find a 1-minimal part of a flow that still fails in the same way.

    Args:
        flow: the failing flow.
        browser: where to play it.
        text: a regular expression; where given, its occurrence on a page is the failure.
        settle_s: seconds for which the page is watched after the last step.
        algorithm: one of :data:`~replay_dd.web.flow.ALGORITHMS`.
        max_tests: stop after that many tests with the best result so far.
        time_budget_s: stop after so many seconds with the best result so far.
        observer: who is told what goes on.

    Raises:
        PageUnreachableError: the first page cannot be loaded.
        DoesNotFailError: the flow does not fail.
        NotReproducedError: it fails in different ways, or only sometimes.
        DoesNotPassError: the assertion fails without any action.
    """
    steps = FlowSteps(flow, browser, text=text, settle_s=settle_s, algorithm=algorithm)
    isolation = isolate_cause(steps, max_tests=max_tests, time_limit_s=time_budget_s, repeat=1, observer=observer)
    kept = steps.kept(isolation.failing.configuration)
    assert isolation.failing.run is not None
    failure = failure_of(isolation.failing.run.playback, text) or steps.wanted
    return FlowIsolation(isolation, flow, flow.only(kept), kept, failure)


def default_output(path: Path) -> Path:
    """Where the minimal flow is written: beside the whole one."""
    return path.with_name(f"{path.name.removesuffix('.json')}-minimal.json")

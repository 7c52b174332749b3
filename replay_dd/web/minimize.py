"""Minimizes a failing flow to the few steps that still fail, each test in a fresh browser context.

Prefix bisection needs fewer tests than ddmin if few steps matter, so it is the default. Both answers are 1-minimal: the
flow was seen not to fail without any single step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_dd.errors.program import DoesNotFailError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.result import Isolation
from replay_dd.web.browser import WebBrowser
from replay_dd.web.browsers import Browsers
from replay_dd.web.circumstance import FlowRun, FlowSteps
from replay_dd.web.failure import Failure
from replay_dd.web.flow import ALGORITHMS, Flow
from replay_dd.web.player import Limits


@dataclass(frozen=True, slots=True)
class FlowIsolation:
    """What makes a flow fail.

    Attributes:
        isolation: the driver's result; its deltas are steps.
        whole: the original flow.
        flow: the smallest failing flow found.
        kept: the numbers of its steps in the original flow.
        failure: its failure.
        notes: what else should be known.
        pause_s: the pauses between its steps, if it does not wait for the page.
    """

    isolation: Isolation[FlowRun]
    whole: Flow
    flow: Flow
    kept: tuple[int, ...]
    failure: Failure
    notes: tuple[str, ...] = ()
    pause_s: float | None = None


PAUSE_S = 0.5
"""How long an impatient person takes for a step, where only a flow that does not wait for the page fails."""


def minimize(
    flow: Flow,
    browser: WebBrowser | Browsers,
    *,
    text: str | None = None,
    settle_s: float = Limits().settle_s,
    algorithm: str = ALGORITHMS[0],
    pause_s: float | None = None,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    repeat: int | None = None,
    observer: Observer = NO_OBSERVER,
) -> FlowIsolation:
    """Find a 1-minimal subset of the steps that still fails in the same way.

    Args:
        flow: the failing flow.
        browser: where to play it; with several, as many tests are made at the same time.
        text: a regular expression; if given, the failure is its occurrence on a page.
        settle_s: seconds to watch the page after the last step.
        algorithm: one of :data:`~replay_dd.web.flow.ALGORITHMS`.
        pause_s: seconds between steps, whatever the page is still loading; None to wait for it, and to try with
            :data:`PAUSE_S` if the flow does not fail so.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        repeat: how many times to play steps that do not fail; None to derive it from how often the flow fails.
        observer: receives progress.

    Raises:
        PageUnreachableError: the first page cannot be loaded.
        DoesNotFailError: the flow does not fail.
        NotReproducedError: it fails too rarely.
        DoesNotPassError: the assertion fails without any action.
    """

    def search(pause_s: float | None) -> tuple[FlowSteps, Isolation[FlowRun]]:
        steps = FlowSteps(flow, browser, text=text, settle_s=settle_s, algorithm=algorithm, pause_s=pause_s)
        return steps, isolate_cause(
            steps,
            jobs=browser.count,
            max_tests=max_tests,
            time_limit_s=time_budget_s,
            repeat=repeat,
            observer=observer,
        )

    try:
        steps, isolation = search(pause_s)
    except DoesNotFailError as error:
        if pause_s is not None:
            raise
        observer.on_note(f"it does not fail if each step waits for the page; trying with pauses of {PAUSE_S} s instead")
        pause_s = PAUSE_S
        try:
            steps, isolation = search(pause_s)
        except DoesNotFailError:
            raise error from None
    kept = steps.kept(isolation.failing.configuration)
    assert isolation.failing.run is not None
    seen = isolation.failing.run.playback.failures
    failure = next((failure for failure in seen if steps.wanted.same(failure)), steps.wanted)
    left_out = steps.sent - Counter(isolation.failing.run.playback.sent)
    notes = tuple(_notes(steps.not_done, isolation, () if browser.starts_server else sorted(left_out)))
    return FlowIsolation(isolation, flow, flow.only(kept), kept, failure, notes, pause_s)


def _notes(not_done: Mapping[int, str], isolation: Isolation[FlowRun], sent: Sequence[str]) -> Iterator[str]:
    """What the whole flow did not do, as far as the failure may have come of it, and what a server may have kept.

    Args:
        not_done: the steps that no run of the whole flow could do, and why.
        isolation: the result.
        sent: what only steps that were left out have sent to the server, if all runs share it.
    """
    if sent:
        more = f", and {len(sent) - 1} more" if len(sent) > 1 else ""
        yield (
            f"Steps that were left out sent something to the server ({sent[0]}{more}). If it keeps that, what earlier "
            "runs sent may belong to the failure: let `--server COMMAND` start it anew for each run."
        )
    if not isolation.failing.configuration and not isolation.baseline.rate.steady:
        yield (
            "The page fails without any action, while the whole flow failed only sometimes: its server seems to keep "
            "what earlier runs did. Let `--server COMMAND` start it anew for each run."
        )
    if not_done:
        number, why = next(iter(not_done.items()))
        others = f", and {len(not_done) - 1} more" if len(not_done) > 1 else ""
        yield (
            f"Not all steps before the failure could be done here: step {number + 1}, {why}{others}. The page may have "
            "failed for that reason, and not as it did when the flow was recorded."
        )


def default_output(path: Path) -> Path:
    """The default path of the minimal flow, next to the original."""
    return path.with_name(f"{path.name.removesuffix('.json')}-minimal.json")

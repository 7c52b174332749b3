"""Makes a failing flow small: as few steps as still fail, each test in a fresh context of the browser.

Rules of this module:

* The whole flow is played first, with all the time it allows, and more than once; its failure is the one looked for.
* Bisection of prefixes asks for fewer tests than ddmin where few steps matter, so it comes first. The answer of both is
  1-minimal: with any one step less, the flow was seen not to fail.
* FAIL is the same failure; PASS is a flow that could be played whole and showed none; all else is UNRESOLVED.
* A failed assertion counts only where every other step could be done: without its elements it fails for another reason.
* While minimising, a step gets a time drawn from what the whole flow needed, since a missing element costs all of it.
* The answer is played again at the end with all the time that the flow allows, and must fail each time with no step
  left out.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from replay_dd.dd import Algorithm, DDMin, IntervalSet, PrefixBisection, Search, Step
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError, PageUnreachableError
from replay_dd.experiment.search import SearchResult, run_search
from replay_dd.outcome import Outcome
from replay_dd.web.browser import WebBrowser
from replay_dd.web.failure import ASSERTION, KINDS, Failure
from replay_dd.web.flow import ALGORITHMS, PROOF_RUNS, Flow
from replay_dd.web.player import Limits, Playback, play
from replay_dd.web.units import Units, units_of

BASELINE_RUNS = 2
# A step gets this many times the longest time that any step needed in the whole flow, but never less than the minimum.
STEP_TIME_FACTOR = 3
LEAST_STEP_MS = 300.0

_WHAT_FAILS = (
    "A failure is an uncaught error of the page, a failed console.assert, a crash, or an assertion step that fails. "
    "If it shows as text on the page, name the text with `--text`."
)
_MORE_TIME = "If the page needs more time after the last step, give it more with `--settle`."

_SEARCHES: dict[str, Callable[[IntervalSet], Algorithm]] = {"bisection": PrefixBisection, "ddmin": DDMin}


@dataclass(frozen=True, slots=True)
class FlowMinimum:
    """The result of a minimisation.

    Attributes:
        whole: the flow as it was given.
        flow: the smallest failing flow found.
        kept: the numbers of its steps in the flow given.
        failure: its failure.
        search: the search, with its counts and its course; None if the head of the flow fails by itself.
        tests: how many flows were played in all, baseline and proof included.
        seconds: how long all took.
        proved: how many of the :data:`PROOF_RUNS` final runs failed in the same way.
    """

    whole: Flow
    flow: Flow
    kept: tuple[int, ...]
    failure: Failure
    search: SearchResult | None
    tests: int
    seconds: float
    proved: int

    @property
    def complete(self) -> bool:
        """Whether the search came to its end, so that no step can be taken away."""
        return self.search is None or self.search.complete


def failure_of(playback: Playback, text: str | None) -> Failure | None:
    """The failure of a playback that counts: the text if one was named, otherwise the most serious kind."""
    return playback.first(("text",) if text is not None else KINDS)


def minimize(
    flow: Flow,
    browser: WebBrowser,
    *,
    text: str | None = None,
    settle_s: float = Limits().settle_s,
    algorithm: str = ALGORITHMS[0],
    max_tests: int | None = None,
    search_limit_s: float | None = None,
    on_test: Callable[[Step], None] | None = None,
) -> FlowMinimum:
    """Find a 1-minimal part of a flow that still fails in the same way.

    Args:
        flow: the failing flow.
        browser: where to play it.
        text: a regular expression; where given, its occurrence on a page is the failure.
        settle_s: seconds for which the page is watched after the last step.
        algorithm: one of :data:`~replay_dd.web.flow.ALGORITHMS`.
        max_tests: stop after that many tests with the best result so far.
        search_limit_s: stop after so many seconds with the best result so far.
        on_test: called after each test.

    Raises:
        PageUnreachableError: the first page cannot be loaded.
        DoesNotFailError: the flow does not fail.
        NotReproducedError: it fails in different ways, or only sometimes.
        DoesNotPassError: the assertion fails without any action.
    """
    started = time.monotonic()
    tests = _FlowTests(flow, browser, text, settle_s)
    wanted = tests.baseline()
    units = tests.prepare(wanted)
    everything = IntervalSet.range(0, len(units.deltas))
    result: SearchResult | None = None
    kept = units.fixed
    if not tests.head_fails(units):
        # The baseline has shown both: the flow up to its failure fails, and its head does not.
        known = {IntervalSet(): Outcome.PASS, everything: Outcome.FAIL}
        search = Search(_SEARCHES[algorithm](everything), known=known)
        result = run_search(search, tests.outcome, max_tests=max_tests, time_limit_s=search_limit_s, on_test=on_test)
        kept = units.steps_of(result.c_fail)
    smallest = flow.only(kept)
    proved = 0
    for _ in range(PROOF_RUNS):
        playback = tests.play(smallest, Limits(settle_s=settle_s), until=wanted)
        found = failure_of(playback, text)
        if wanted.same(found) and not playback.left_out:
            proved += 1
            wanted = replace(wanted, step=found.step if found is not None else 0)
    return FlowMinimum(flow, smallest, kept, wanted, result, tests.played, time.monotonic() - started, proved)


class _FlowTests:
    """Plays parts of one flow and judges them."""

    def __init__(self, flow: Flow, browser: WebBrowser, text: str | None, settle_s: float) -> None:
        self.played = 0
        self._flow = flow
        self._browser = browser
        self._text = text
        self._settle_s = settle_s
        self._wanted: Failure | None = None
        self._units = Units((), ())
        self._step_ms = LEAST_STEP_MS

    def play(self, flow: Flow, limits: Limits, until: Failure | None = None) -> Playback:
        """Play a flow; with ``until``, only to this failure."""
        self.played += 1
        ends = (lambda failure: False) if until is None else until.same
        return play(flow, self._browser, limits=limits, until=ends, text=self._text)

    def baseline(self) -> Failure:
        """The failure of the whole flow, the same in several runs."""
        limits = Limits(settle_s=self._settle_s)
        wanted: Failure | None = None
        for run in range(BASELINE_RUNS):
            playback = self.play(self._flow, limits, until=wanted)
            if not playback.reached:
                why = playback.left_out[0][1] if playback.left_out else "it crashed"
                raise PageUnreachableError(f"The first page of the flow cannot be loaded: {why}.")
            found = failure_of(playback, self._text)
            if found is None:
                raise _nothing_failed(playback) if run == 0 else _came_once(wanted)
            if wanted is not None and not wanted.same(found):
                raise NotReproducedError(
                    f"The flow failed in two ways: {wanted.summary}, then {found.summary}.", _MORE_TIME
                )
            wanted = found
            # The waiting for what is missing would make every limit a long one.
            missing = {number for number, _ in playback.left_out} | {one.step for one in playback.failures}
            needed = [seconds for number, seconds in enumerate(playback.seconds) if number not in missing]
            self._step_ms = max(self._step_ms, STEP_TIME_FACTOR * 1000 * max(needed[1:], default=0))
        assert wanted is not None
        return wanted

    def prepare(self, wanted: Failure) -> Units:
        """Cut the flow off behind its failure, and into deltas."""
        self._wanted = wanted
        fixed = (wanted.step,) if wanted.kind == ASSERTION else ()
        head = Flow(self._flow.steps[: wanted.step + 1], self._flow.data)
        navigation = next(number for number, step in enumerate(self._flow.steps) if step.type == "navigate")
        if wanted.step < navigation:  # a crash while loading
            head = Flow(self._flow.steps[: navigation + 1], self._flow.data)
        self._units = units_of(head, also_fixed=fixed)
        return self._units

    def head_fails(self, units: Units) -> bool:
        """Whether what is never taken away fails already."""
        assert self._wanted is not None
        playback = self.play(self._flow.only(units.fixed), Limits(settle_s=self._settle_s), until=self._wanted)
        fails = self._wanted.same(failure_of(playback, self._text))
        if fails and self._wanted.kind == ASSERTION:
            raise DoesNotPassError(
                f"This fails without any action: {self._wanted.text}.",
                "Assert what holds before the failing action, for instance that an error box is not visible.",
            )
        # A passing assertion shows here how long it takes to come true.
        self._step_ms = max(self._step_ms, STEP_TIME_FACTOR * 1000 * max(playback.seconds[1:], default=0))
        return fails

    def outcome(self, configuration: IntervalSet) -> Outcome:
        """Play the flow of a configuration."""
        assert self._wanted is not None
        flow = self._flow.only(self._units.steps_of(configuration))
        limits = Limits(step_ms=self._step_ms, settle_s=self._settle_s)
        playback = self.play(flow, limits, until=self._wanted)
        if any(self._wanted.same(failure) for failure in playback.failures):
            excused = self._wanted.kind == ASSERTION and playback.left_out
            return Outcome.UNRESOLVED if excused else Outcome.FAIL
        return Outcome.UNRESOLVED if playback.failures or playback.left_out else Outcome.PASS


def _nothing_failed(playback: Playback) -> Exception:
    if playback.left_out:
        number, why = playback.left_out[0]
        return DoesNotFailError(
            f"The flow shows no failure, but step {number + 1} could not be done: {why}.",
            "Record the flow again on this page; or make this the failure, with a `waitForElement` step in its place.",
        )
    return DoesNotFailError("The flow runs to its end without a failure.", _WHAT_FAILS)


def _came_once(wanted: Failure | None) -> Exception:
    summary = "" if wanted is None else wanted.summary
    return NotReproducedError(f"The failure came in the first run and not in the second: {summary}.", _MORE_TIME)


def default_output(path: Path) -> Path:
    """Where the minimal flow is written: beside the whole one."""
    return path.with_name(f"{path.name.removesuffix('.json')}-minimal.json")

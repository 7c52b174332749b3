"""Steps of a user flow as a failure circumstance.

Rules of this module:

* FAIL means the same failure; PASS a flow that was played completely without a failure; anything else is UNRESOLVED.
* A failed assertion counts only if every other step could be done: without its elements it fails for another reason.
* During the search, the time-out of a step is derived from what the whole flow needed, since a missing element uses up
  all of it. Evidence (the baseline and the proof) gets all the time that the flow allows, and no step may be skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from replay_dd.circumstance import Circumstance, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors import ReplayDDError
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError, PageUnreachableError
from replay_dd.outcome import Outcome
from replay_dd.web.browser import WebBrowser
from replay_dd.web.describe import describe
from replay_dd.web.failure import ASSERTION, KINDS, Failure
from replay_dd.web.flow import Flow
from replay_dd.web.player import Limits, Playback, play
from replay_dd.web.step_deltas import StepDeltas, step_deltas_of

# The time-out of a step, as a multiple of the longest step of the whole flow, and its minimum.
STEP_TIME_FACTOR = 3
LEAST_STEP_MS = 300.0

_WHAT_FAILS = (
    "A failure is an uncaught error of the page, a failed console.assert, a crash, or an assertion step that fails. "
    "If it shows as text on the page, give the text with `--text`."
)
_MORE_TIME = "If the page needs more time after the last step, set it with `--settle`."


def failure_of(playback: Playback, text: str | None) -> Failure | None:
    """The relevant failure of a playback: the text if one was given, otherwise the most serious kind."""
    return playback.first(("text",) if text is not None else KINDS)


@dataclass(frozen=True)
class FlowRun:
    """One playback of a flow.

    Attributes:
        playback: the result.
        evidence: whether it was played to prove an answer.
    """

    playback: Playback
    evidence: bool


class FlowSteps(Circumstance[FlowRun]):
    """The steps of a flow as deltas; its head, up to the first page, is always kept.

    Args:
        flow: the failing flow.
        browser: where to play it.
        text: a regular expression; if given, the failure is its occurrence on a page.
        settle_s: seconds to watch the page after the last step.
        algorithm: ``bisection`` or ``ddmin``.
    """

    name = "web"
    subject = "flow"
    delta = "step"

    def __init__(self, flow: Flow, browser: WebBrowser, *, text: str | None, settle_s: float, algorithm: str) -> None:
        self.algorithm = algorithm
        self._flow = flow
        self._browser = browser
        self._text = text
        self._settle_s = settle_s
        self._wanted: Failure | None = None
        self._step_deltas = step_deltas_of(flow)
        self._step_ms = LEAST_STEP_MS
        self.universe = IntervalSet.range(0, len(self._step_deltas.deltas))

    @property
    def wanted(self) -> Failure:
        """The failure sought."""
        assert self._wanted is not None, "settle was not called"
        return self._wanted

    @property
    def step_deltas(self) -> StepDeltas:
        """The deltas, by their steps."""
        return self._step_deltas

    def kept(self, configuration: IntervalSet) -> tuple[int, ...]:
        """The numbers of the steps to play."""
        return self._step_deltas.steps_of(configuration)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> FlowRun:
        """Play these steps in a fresh browser context, until the failure if that is known."""
        ends = (lambda failure: False) if self._wanted is None else self._wanted.same
        baseline = self._wanted is None
        # The baseline also plays what comes after the failure: which failure is sought is not known yet.
        flow = self._flow if baseline else self._flow.only(self.kept(configuration))
        limits = Limits(settle_s=self._settle_s)
        if not (baseline or fresh or configuration == self.base):
            limits = replace(limits, step_ms=self._step_ms)
        playback = play(flow, self._browser, limits=limits, until=ends, text=self._text)
        if configuration == self.base:
            # This run shows how long a passing assertion takes to come true.
            self._allow(playback.seconds[1:])
        return FlowRun(playback, evidence=fresh)

    def judge(self, run: FlowRun) -> Judgement:
        """Compare the run with the failure sought."""
        playback, wanted = run.playback, self.wanted
        failed = bool(playback.failures)
        if any(wanted.same(failure) for failure in playback.failures):
            if not (playback.left_out and (run.evidence or wanted.kind == ASSERTION)):
                return Judgement(Outcome.FAIL, wanted.summary, wanted.signature, failed=True)
            return Judgement(Outcome.UNRESOLVED, _left_out(playback), "left out")
        if failed:
            other = playback.failures[0]
            return Judgement(Outcome.UNRESOLVED, other.summary, other.signature, failed=True)
        if playback.left_out:
            return Judgement(Outcome.UNRESOLVED, _left_out(playback), "left out")
        return Judgement(Outcome.PASS, "no failure")

    def settle(self, runs: Sequence[FlowRun]) -> None:
        """Choose the failure that all runs have; cut the flow off after it.

        Raises:
            PageUnreachableError: the first page cannot be loaded.
            DoesNotFailError: the flow does not fail.
            NotReproducedError: it fails in different ways, or only sometimes.
        """
        wanted: Failure | None = None
        for number, playback in enumerate(run.playback for run in runs):
            if not playback.reached:
                why = playback.left_out[0][1] if playback.left_out else "it crashed"
                raise PageUnreachableError(f"The first page of the flow cannot be loaded: {why}.")
            found = failure_of(playback, self._text)
            if found is None:
                raise _nothing_failed(playback) if number == 0 else _came_once(wanted)
            if wanted is not None and not wanted.same(found):
                raise NotReproducedError(
                    f"The flow failed in two ways: {wanted.summary}, then {found.summary}.", _MORE_TIME
                )
            wanted = found
            # Waiting for missing elements would make every time-out long.
            missing = {number for number, _ in playback.left_out} | {one.step for one in playback.failures}
            self._allow([seconds for step, seconds in enumerate(playback.seconds) if step not in missing][1:])
        assert wanted is not None
        self._wanted = wanted
        fixed = (wanted.step,) if wanted.kind == ASSERTION else ()
        first_page = next(number for number, step in enumerate(self._flow.steps) if step.type == "navigate")
        # A crash during loading comes before the first page has loaded.
        head = Flow(self._flow.steps[: max(wanted.step, first_page) + 1], self._flow.data)
        self._step_deltas = step_deltas_of(head, also_fixed=fixed)
        self.universe = IntervalSet.range(0, len(self._step_deltas.deltas))

    def base_failed(self, judgement: Judgement) -> None:
        """Reject an assertion that fails without any action: no action causes it.

        Raises:
            DoesNotPassError: the failure is such an assertion.
        """
        if self.wanted.kind == ASSERTION:
            raise DoesNotPassError(
                f"This fails without any action: {self.wanted.text}.",
                "Assert what holds before the failing action, for instance that an error box is not visible.",
            )

    def words(self, delta: int) -> str:
        """Describe the steps of the delta."""
        return ", ".join(describe(self._flow.steps[number]) for number in self._step_deltas.deltas[delta])

    def _allow(self, seconds: Sequence[float]) -> None:
        self._step_ms = max(self._step_ms, STEP_TIME_FACTOR * 1000 * max(seconds, default=0))


def _left_out(playback: Playback) -> str:
    number, why = playback.left_out[0]
    return f"step {number + 1} could not be done: {why}"


def _nothing_failed(playback: Playback) -> ReplayDDError:
    if playback.left_out:
        return DoesNotFailError(
            f"The flow shows no failure, but {_left_out(playback)}.",
            "Record the flow again on this page; or make this the failure, with a `waitForElement` step in its place.",
        )
    return DoesNotFailError("The flow runs to its end without a failure.", _WHAT_FAILS)


def _came_once(wanted: Failure | None) -> ReplayDDError:
    summary = "" if wanted is None else wanted.summary
    return NotReproducedError(f"The failure occurred in the first run but not in the second: {summary}.", _MORE_TIME)

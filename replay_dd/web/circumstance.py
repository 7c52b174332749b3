"""Steps of a user flow as a failure circumstance.

Rules of this module:

* FAIL means the same failure; PASS a flow that was played completely without a failure; anything else is UNRESOLVED.
* A failed assertion counts only if every other step could be done: without its elements it fails for another reason.
* During the search, the time-out of a step is derived from what it and the steps left out before it took in the whole
  flow, since a missing element uses up all of it. The baseline and the proof get all the time that the flow allows; in
  the proof, no step may be skipped.
* Where a page hangs is asked until the failure sought is known, and then only if that is a hang: it costs time.
* Failures of pages may be intermittent: scripts race with timers and with the network. So the baseline plays the whole
  flow to its end each time, whatever fails meanwhile, until it knows which failure shows how often.
"""

from __future__ import annotations

import math
import re
import shlex
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from replay_dd.circumstance import Circumstance, Judgement
from replay_dd.dd import IntervalSet
from replay_dd.errors import ReplayDDError
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, PageUnreachableError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS, MEASURED_RUNS
from replay_dd.experiment.journal import recalled
from replay_dd.outcome import Outcome
from replay_dd.web.browser import WebBrowser
from replay_dd.web.browsers import Browsers
from replay_dd.web.describe import LONGEST_TEXT, quoted, steps_in_words
from replay_dd.web.failure import ASSERTION, HANG, KINDS, SERVER_ERROR, TEXT, Failure
from replay_dd.web.flow import Flow
from replay_dd.web.hangs import HANG_S
from replay_dd.web.learnt import Learnt
from replay_dd.web.player import Limits, Playback, play
from replay_dd.web.step_deltas import step_deltas_of

# The time-out of a step, as a multiple of what it took in the whole flow, and its minimum.
STEP_TIME_FACTOR = 3
LEAST_STEP_MS = 300.0
LEAST_HANG_S = 1.0
# In later runs of the whole flow, the time-out of a step that could not be done in any earlier one.
MISSED_STEP_MS = 1000.0
# A more serious failure that shows in a smaller share of the runs is not the one that the user recorded.
_OFTEN_ENOUGH = 0.25

_WHAT_FAILS = (
    "A failure is an uncaught error of the page, a failed console.assert, a crash, an assertion step that fails, or an "
    "error that the server reports if `--server` starts it. If it shows as text on the page or as an error in its "
    "console, give it with `--grep`; if it comes late, set `--settle`."
)
# What Chromium writes for a request that got no proper answer.
_NOT_LOADED = "Failed to load resource"


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
        browser: where to play it; several if it is played several times at the same time.
        text: a regular expression; if given, the failure is its occurrence on a page.
        settle_s: seconds to watch the page after the last step.
        algorithm: a key of :data:`~replay_dd.circumstance.ALGORITHMS` that simplifies.
        pause_s: seconds between steps, whatever the page is still loading; None to wait for it.
    """

    name = "web"
    subject = "flow"
    delta = "step"
    flaky = True
    rare_hint = (
        "Make it fail more often: watch the page longer with `--settle`, put more load on the server; or try each test "
        "often, with `--repeats N`."
    )

    def __init__(
        self,
        flow: Flow,
        browser: WebBrowser | Browsers,
        *,
        text: str | None,
        settle_s: float,
        algorithm: str,
        pause_s: float | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.pairs = algorithm != "ddmin"
        self._flow = flow
        self._browser = browser
        self._text = text
        self._settle_s = settle_s
        self._pause_s = pause_s
        self._wanted: Failure | None = None
        self._step_deltas = step_deltas_of(flow)
        self._took_s = [0.0] * len(flow.steps)
        self._slowest_s = 0.0
        self._learnt = Learnt()
        self._lock = threading.Lock()
        self._never_done: set[int] | None = None
        self.not_done: dict[int, str] = {}
        """Steps before the failure that could not be done in any run of the whole flow, and why."""
        self.sent: Counter[str] = Counter()
        """What the whole flow sent to the server, and how often at most."""
        self.universe = IntervalSet.range(0, len(self._step_deltas.deltas))

    @property
    def wanted(self) -> Failure:
        """The failure sought."""
        assert self._wanted is not None, "settle was not called"
        return self._wanted

    def kept(self, configuration: IntervalSet) -> tuple[int, ...]:
        """The numbers of the steps to play."""
        return self._step_deltas.steps_of(configuration)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> FlowRun:
        """Play these steps in a fresh browser context, until the failure sought; the baseline to the end."""
        if self._wanted is None or (fresh and configuration == self.universe != self.base):
            return FlowRun(self._play_whole(), evidence=False)
        flow = self._flow.only(self.kept(configuration))
        if configuration != self.base:
            if fresh:
                return FlowRun(self._play(flow, until=self.wanted.same), evidence=False)
            kept = [str(number) for number in self.kept(configuration)]
            steps_ms, hang_s = self._steps_ms(self.kept(configuration)), self._hang_s()
            make = partial(self._play, flow, until=self.wanted.same, steps_ms=steps_ms, hang_s=hang_s)
            return FlowRun(recalled(Playback, lambda: [self.wanted.signature, *kept], make), evidence=False)
        playback = self._play(flow, until=self.wanted.same)
        if self.wanted.kind == ASSERTION:
            # This run shows how long a passing assertion takes to come true.
            self._took_s[self.wanted.step] = max([*self._took_s, *playback.seconds[1:]])
        return FlowRun(playback, evidence=False)

    def prove(self, configuration: IntervalSet, run: FlowRun) -> FlowRun:
        """Play exactly these steps, with all the time that they may take."""
        return FlowRun(self._play(self._flow.only(self.kept(configuration)), until=self.wanted.same), evidence=True)

    def _play(
        self,
        flow: Flow,
        *,
        until: Callable[[Failure], bool] = lambda failure: False,
        steps_ms: tuple[float, ...] | None = None,
        hang_s: float = HANG_S,
    ) -> Playback:
        limits = Limits(steps_ms=steps_ms, hang_s=hang_s, pause_s=self._pause_s, settle_s=self._settle_s)
        tells_where = self._wanted is None or self._wanted.kind == HANG
        return self._browser.use(
            lambda browser: play(
                flow,
                browser,
                limits=limits,
                until=until,
                text=self._text,
                learnt=self._learnt,
                tells_where=tells_where,
            )
        )

    def _play_whole(self) -> Playback:
        """Play the whole flow to its end; what no earlier run could do does not get all of its time again."""
        steps = range(len(self._flow.steps))
        steps_ms = tuple(MISSED_STEP_MS if number in (self._never_done or ()) else math.inf for number in steps)
        playback = self._play(self._flow, steps_ms=steps_ms)
        missed = {number for number, _ in playback.left_out}
        with self._lock:
            self._never_done = missed if self._never_done is None else self._never_done & missed
        return playback

    def key(self, configuration: IntervalSet) -> Hashable:
        """The steps: their deltas are counted anew when the failure sought is chosen anew."""
        return self.kept(configuration)

    def judge(self, run: FlowRun) -> Judgement:
        """Compare the run with the failure sought."""
        playback, wanted = run.playback, self._wanted
        if wanted is not None and any(wanted.same(failure) for failure in playback.failures):
            if not (playback.left_out and (run.evidence or wanted.kind == ASSERTION)):
                return Judgement(Outcome.FAIL, wanted.summary, wanted.signature, failed=True)
            return _not_done(playback)
        # A server also reports what it lives with.
        all_count = wanted is None or wanted.kind == SERVER_ERROR
        other = next((one for one in playback.failures if all_count or one.kind != SERVER_ERROR), None)
        if other is not None:
            return Judgement(Outcome.UNRESOLVED, other.summary, other.signature, failed=True)
        if playback.left_out:
            return _not_done(playback)
        return Judgement(Outcome.PASS, "no failure")

    def compare(self, one: FlowRun, other: FlowRun) -> str:
        """How the other run ended, if not as the first one did: flows may meet in what the server keeps."""
        if _shown(one.playback) == _shown(other.playback):
            return ""
        if other.playback.failures:
            return other.playback.failures[0].summary
        return _left_out(other.playback) if other.playback.left_out else "no failure"

    def settle(self, runs: Sequence[FlowRun]) -> None:
        """Choose the failure that these runs show; cut the flow off after it.

        Raises:
            PageUnreachableError: the first page cannot be loaded.
            DoesNotFailError: the flow does not fail.
        """
        playbacks = [run.playback for run in runs]
        wanted = _usual_failure(playbacks, self._text)
        if wanted is None:
            if not any(playback.reached for playback in playbacks):
                why = playbacks[-1].left_out[0][1] if playbacks[-1].left_out else "it crashed"
                raise PageUnreachableError(f"The first page of the flow cannot be loaded: {why}.")
            # A step that cannot be done uses up its time-out: waiting for the failure would take minutes.
            # With pauses, the whole flow takes as long as a person took.
            enough = INTERMITTENT_RUNS if self._pause_s is None else MEASURED_RUNS
            if len(runs) >= enough or all(playback.left_out for playback in playbacks):
                raise _nothing_failed(playbacks)
            return
        self._slowest_s = max(playback.slowest_s for playback in playbacks)
        for playback in playbacks:
            # Waiting for missing elements would make every time-out long.
            missing = {number for number, _ in playback.left_out} | {one.step for one in playback.failures}
            for step, seconds in enumerate(playback.seconds):
                if step not in missing:
                    self._took_s[step] = max(self._took_s[step], seconds)
        self._wanted = wanted
        for playback in playbacks:
            self.sent |= Counter(playback.sent)
        never = set.intersection(*({number for number, _ in playback.left_out} for playback in playbacks))
        self.not_done = {
            number: why for number, why in playbacks[-1].left_out if number in never and number < wanted.step
        }
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

    def alike(self, one: int, other: int) -> bool:
        """Whether two deltas do the same to the same element."""
        return self._deeds(one) == self._deeds(other)

    def _deeds(self, delta: int) -> list[tuple[object, ...]]:
        steps = [self._flow.steps[number] for number in self._step_deltas.deltas[delta]]
        return [(step.type, step.selectors, step.data.get("key")) for step in steps]

    def words(self, delta: int) -> str:
        """Describe the steps of the delta."""
        words = steps_in_words(self._flow)
        return ", ".join(words[number] for number in self._step_deltas.deltas[delta])

    def _hang_s(self) -> float:
        """After how much work in vain a page hangs: where the whole flow got quick answers, it is known sooner."""
        return min(HANG_S, max(LEAST_HANG_S, STEP_TIME_FACTOR * self._slowest_s))

    def _steps_ms(self, kept: Sequence[int]) -> tuple[float, ...]:
        """How long each of these steps may take: meanwhile the whole flow did the steps that are left out before it."""
        limits: list[float] = []
        after = 0
        for number in kept:
            own_ms = max(LEAST_STEP_MS, STEP_TIME_FACTOR * 1000 * self._took_s[number])
            limits.append(own_ms + 1000 * sum(self._took_s[after:number]))
            after = number + 1
        return tuple(limits)


def _shown(playback: Playback) -> tuple[frozenset[Hashable], frozenset[int]]:
    """What a playback shows: its failures, and the steps that could not be done."""
    failures = frozenset(failure.signature for failure in playback.failures)
    return failures, frozenset(number for number, _ in playback.left_out)


def _left_out(playback: Playback) -> str:
    number, why = playback.left_out[0]
    return f"step {number + 1} could not be done: {why}"


def _not_done(playback: Playback) -> Judgement:
    number, why = playback.left_out[0]
    return Judgement(Outcome.UNRESOLVED, f"could not do step {number + 1}: {why}", ("left out", number))


def _usual_failure(playbacks: Sequence[Playback], text: str | None) -> Failure | None:
    """The most serious failure that shows often enough, as it was seen last; None if there is no failure."""
    shown: dict[Hashable, list[Failure]] = {}
    for playback in playbacks:
        first: dict[Hashable, Failure] = {}
        for failure in playback.failures:
            if text is None or failure.kind == TEXT:
                first.setdefault(failure.signature, failure)
        for signature, failure in first.items():
            shown.setdefault(signature, []).append(failure)

    def rank(failures: Sequence[Failure]) -> tuple[bool, int, int]:
        often_enough = len(failures) >= _OFTEN_ENOUGH * len(playbacks)
        return often_enough, -KINDS.index(failures[0].kind) if often_enough else 0, len(failures)

    usual = max(shown.values(), key=rank, default=[])
    return max(usual, key=lambda failure: failure.step, default=None)


def _nothing_failed(playbacks: Sequence[Playback]) -> ReplayDDError:
    last = playbacks[-1]
    if last.left_out:
        return DoesNotFailError(
            f"The flow shows no failure, but {_left_out(last)}.{_console(last)}",
            "Record the flow again on this page; or make this the failure, with a `waitForElement` step in its place.",
        )
    written = _console_errors(last)
    grep = f"If that error is the failure, give it with `--grep {_pattern(written[0])}`. " if written else ""
    return DoesNotFailError(
        f"The flow ran to its end {len(playbacks)} times without a failure.{_console(last)}", grep + _WHAT_FAILS
    )


def _pattern(message: str) -> str:
    """A regular expression for the beginning of a message, up to the end of a word, as a shell takes it."""
    begins = message if len(message) <= LONGEST_TEXT else message[:LONGEST_TEXT].rpartition(" ")[0] or message
    return shlex.quote(re.sub(r"[\\.^$*+?{}\[\]|()]", r"\\\g<0>", begins))


def _console_errors(playback: Playback) -> list[str]:
    """The errors in the console, that of a script first: a user may mean them."""
    return sorted(playback.console, key=lambda error: error.startswith(_NOT_LOADED))


def _console(playback: Playback) -> str:
    written = _console_errors(playback)
    if not written:
        return ""
    more = f", and {len(written) - 1} more" if len(written) > 1 else ""
    return f" Its console has the error {quoted(written[0])}{more}."

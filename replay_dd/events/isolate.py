"""Isolates the few actions of a session that make a program fail.

Rules of this module:

* First the whole session is played, more than once: how often it fails is measured before anything is concluded.
* The run of the whole session answers questions without a test: what comes after the failure is not needed, and no
  shorter beginning fails.
* Needed actions are found from the last one backwards, each by binary search (:class:`~replay_dd.dd.PrefixBisection`),
  with a closing check that each is needed: 1-minimal for every program. A search begins anew from a smaller failure.
* A run is FAIL only with the same signature as the failure that is looked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.dd import DD, EMPTY, DDMin, IntervalSet, PrefixBisection, Search, Step
from replay_dd.dd.algorithm import Algorithm
from replay_dd.dd.search import TESTED
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NoWindowError
from replay_dd.errors.user import NothingRecordedError, TwoProgramsError
from replay_dd.events.actions import actions_of
from replay_dd.events.baseline import MORE_RUNS, Baseline, linger_of, measure
from replay_dd.events.difference import SessionDifference, difference_of, with_shared_windows
from replay_dd.events.displays import DisplaySupply
from replay_dd.events.finer import FinerDifference
from replay_dd.events.model import Action, Ending, EndingKind, Pace, Session
from replay_dd.events.result import Film, MinimizedSession, SearchStep
from replay_dd.events.signature import outcome_of
from replay_dd.events.trial import Conditions
from replay_dd.events.trials import Trials
from replay_dd.experiment.search import SearchResult, run_search
from replay_dd.outcome import Outcome

PROOF_RUNS = 3
ALGORITHMS = ("bisection", "ddmin")


@dataclass(frozen=True)
class Plan:
    """How an isolation is made.

    Attributes:
        jobs: how many runs at the same time.
        conditions: how each run is made; the pace is the session's own where ``pace`` is None.
        pace: another pace than the session's.
        repeat: how often a configuration that does not fail is tried; None to choose it by the measured rate.
        algorithm: ``"bisection"``, or ``"ddmin"`` of the ISSTA 2000 paper.
        max_tests: stop after that many tests with the best so far.
        pictures: a folder for the film of the minimal session; None for no film.
        window_manager: another window manager than the session's.
        finer: in the end, also leave out single keys, clicks and moves inside the actions that are left.
    """

    jobs: int = 1
    conditions: Conditions = field(default_factory=Conditions)
    pace: Pace | None = None
    repeat: int | None = None
    algorithm: str = "bisection"
    max_tests: int | None = None
    pictures: Path | None = None
    window_manager: str | None = None
    finer: bool = False


def isolate_events(
    session: Session,
    plan: Plan,
    *,
    passing: Session | None = None,
    on_test: Callable[[SearchStep], None] | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> MinimizedSession:
    """Find the actions that a failure needs, or that make the difference to a session that passes.

    Args:
        session: the failing session.
        plan: how.
        passing: a session of the same program that does not fail.
        on_test: called after each test, in order.
        on_stage: told what is being done.

    Raises:
        ReplayDDError: the sessions cannot be used, or the failure does not show again.
    """
    started = time.monotonic()
    actions = actions_of(session)
    if plan.conditions.oracle is not None:
        session = replace(session, ending=None)  # what was recorded is not what is asked for
    _check(session, actions, passing)
    if passing is not None:
        passing = replace(passing, recorder="isolated", events=(), changes=(), actions=actions_of(passing))
        session, passing = with_shared_windows(session, passing)
    pace = plan.pace or session.pace
    linger_s = plan.conditions.linger_s or linger_of(session, actions)
    conditions = replace(plan.conditions, pace=pace, linger_s=linger_s)
    difference = difference_of(actions, () if passing is None else passing.actions)
    manager = session.window_manager if plan.window_manager is None else plan.window_manager
    tell = on_stage or (lambda text: None)
    with DisplaySupply(session.screen, manager, plan.jobs) as supply:
        trials = Trials(session, conditions, supply)
        tell("playing the whole session")
        baseline = measure(trials, session, actions, jobs=plan.jobs, repeat=plan.repeat)
        if passing is not None:
            tell("playing the passing session")
            _check_passing(trials, passing.actions)
        course = _Course(trials, difference, baseline, on_test)
        result, complete, interrupted = course.search(plan, simplify=passing is None)
        ending = course.ending_of(result.c_fail)
        left = difference.actions(result.c_fail)[: ending.actions]
        needed = difference.places(result.c_fail)
        if plan.finer and passing is None and complete and left:
            tell("looking inside the actions")
            inside = FinerDifference(left, needed)
            within = _Course(trials, inside, replace(baseline, ending=replace(ending, actions=len(left))), None)
            fine, complete, interrupted = within.search(plan, simplify=True, tested=course.tests)
            left, needed, ending = (
                inside.actions(fine.c_fail),
                inside.places(fine.c_fail),
                within.ending_of(fine.c_fail),
            )
            course.tests, course.requested = within.tests, course.requested + within.requested
        proof = _Proof(ending)
        if not interrupted:
            tell("playing the minimal session")
            proof = _prove(trials, left, baseline, ending, plan)
            if passing is not None:
                proof.passing = _rate(trials, difference.actions(result.c_pass), baseline, plan)
    minimal = replace(
        session,
        recorder="isolated",
        events=(),
        changes=(),
        actions=left,
        ending=proof.ending,
        pace=pace,
        verified=proof.failing[0] == proof.failing[1] if proof.failing[1] else None,
    )
    compared = () if passing is None else difference.compared(result.c_pass, result.c_fail)
    only_failing = tuple(item.place for item in compared if not item.in_passing)
    return MinimizedSession(
        original=session,
        original_actions=actions,
        minimal=minimal,
        needed=needed if passing is None else only_failing,
        ending=proof.ending,
        tests=course.tests,
        tests_requested=course.requested,
        seconds=time.monotonic() - started,
        rate_before=baseline.rate,
        rate_after=proof.failing,
        rate_passing=proof.passing,
        steps=tuple(course.steps),
        complete=complete,
        interrupted=interrupted,
        passing=None if passing is None else replace(passing, actions=difference.actions(result.c_pass)),
        compared=compared,
        film=proof.film,
    )


class _Course:
    """A search that goes on, with what its runs said."""

    def __init__(
        self,
        trials: Trials,
        difference: SessionDifference | FinerDifference,
        baseline: Baseline,
        on_test: Callable[[SearchStep], None] | None,
    ) -> None:
        self._trials = trials
        self._difference = difference
        self._baseline = baseline
        self._on_test = on_test
        self._endings: dict[IntervalSet, Ending] = {}
        self._outcomes: dict[IntervalSet, Outcome] = {}
        self._told: set[IntervalSet] = set()
        self.steps: list[SearchStep] = []
        self.tests = 0
        self.requested = 0

    def ending_of(self, configuration: IntervalSet) -> Ending:
        """How the run of a configuration ended; the whole session's ending where it was not run."""
        return self._endings.get(configuration, self._baseline.ending)

    def search(self, plan: Plan, *, simplify: bool, tested: int = 0) -> tuple[SearchResult, bool, bool]:
        """Search until no smaller failure is known; answer the result, whether it is complete, and interrupted.

        Tests that were made before are counted, too.
        """
        self.tests = tested
        # The whole session ended with its failure: what would have come after it was never played.
        current = self._difference.played(self._difference.all, self._baseline.ending.actions)
        if simplify and isinstance(self._difference, SessionDifference):
            self._know_beginnings(current)
        self._outcomes[current] = Outcome.FAIL
        self._outcomes.setdefault(EMPTY, Outcome.PASS)
        while True:
            algorithm = self._algorithm(plan.algorithm, current) if simplify else DD(EMPTY, current)
            search = Search(algorithm, known=self._outcomes)
            left = None if plan.max_tests is None else max(plan.max_tests - self.tests, 0)
            result = run_search(search, self._test, jobs=plan.jobs, max_tests=left, on_test=self._tell)
            self.tests += result.executed
            self.requested += result.requested
            smaller = self._smallest_failure() if simplify else result.c_fail
            stop = not result.complete or result.stopped_by is not None
            if stop or smaller.count >= result.c_fail.count:
                return result, result.complete, result.stopped_by == "interrupt"
            current = smaller

    def _algorithm(self, name: str, current: IntervalSet) -> Algorithm:
        return PrefixBisection(current) if name == "bisection" else DDMin(current)

    def _know_beginnings(self, current: IntervalSet) -> None:
        """The program had not failed before the last action: no shorter beginning fails."""
        # A hang may have begun long before it was noticed.
        later = self._baseline.ending.kind in (EndingKind.ORACLE, EndingKind.HANG)
        at_once = not later and not self._trials.conditions.linger_s
        if at_once and self._baseline.rate[0] == self._baseline.rate[1]:
            for length in range(1, current.count):
                self._outcomes[current.take(length)] = Outcome.PASS

    def _test(self, configuration: IntervalSet) -> Outcome:
        outcome = Outcome.PASS
        for _ in range(self._baseline.repeat):
            try:
                ending = self._trials.run(self._difference.actions(configuration)).ending
            except NoWindowError as error:
                ending = replace(self._baseline.ending, signature="no window", text=error.message)
            outcome = outcome_of(ending, self._baseline.ending)
            self._endings[configuration] = ending
            if outcome is Outcome.FAIL:
                break
        return outcome

    def _tell(self, step: Step) -> None:
        """A test is told (in serial order): note it, and what it says about smaller configurations."""
        configuration, outcome = step.configuration, step.outcome
        self._outcomes[configuration] = outcome
        self._told.add(configuration)
        ending = self._endings.get(configuration)
        if outcome is Outcome.FAIL and ending is not None:
            reached = self._difference.played(configuration, ending.actions)
            if reached != configuration:
                self._outcomes[reached] = Outcome.FAIL
                self._endings[reached] = ending
                self._told.add(reached)
        text = "" if ending is None or step.answered_by != TESTED else ending.text
        number = len(self.steps) + 1
        told = SearchStep(number, configuration.count, outcome.value, step.deltas_left, text)
        self.steps.append(told)
        if self._on_test is not None:
            self._on_test(told)

    def _smallest_failure(self) -> IntervalSet:
        failures = [item for item in self._told if self._outcomes[item] is Outcome.FAIL]
        return min(failures, key=lambda item: (item.count, item.intervals), default=self._difference.all)


def _check(session: Session, actions: Sequence[Action], passing: Session | None) -> None:
    if not actions:
        raise NothingRecordedError("The session holds no actions.")
    if session.ending is not None and not session.ending.failed:
        raise DoesNotFailError(f"The session did not fail: {session.ending.text}.")
    if passing is None:
        return
    if passing.ending is not None and passing.ending.failed:
        raise DoesNotPassError(f"The session that should pass failed: {passing.ending.text}.")
    for what, one, other in (
        ("commands", session.program.command, passing.program.command),
        ("screens", session.screen, passing.screen),
        ("window managers", session.window_manager, passing.window_manager),
    ):
        if one != other:
            raise TwoProgramsError(f"The two sessions have different {what}.")


def _check_passing(trials: Trials, actions: Sequence[Action]) -> None:
    ending = trials.run(actions).ending
    if ending.failed:
        raise DoesNotPassError(f"The session that should pass failed when it was played again: {ending.text}.")


@dataclass
class _Proof:
    """What fresh replays of the answer said: how many of how many failed, and a film of one."""

    ending: Ending
    failing: tuple[int, int] = (0, 0)
    passing: tuple[int, int] = (0, 0)
    film: Film | None = None


def _prove(trials: Trials, actions: Sequence[Action], baseline: Baseline, ending: Ending, plan: Plan) -> _Proof:
    """Play the answer afresh; ``ending`` is how it ended in the search."""
    proof = _Proof(ending, _rate(trials, actions, baseline, plan))
    if plan.pictures is not None:
        plan.pictures.mkdir(parents=True, exist_ok=True)
        for _ in range(baseline.repeat):
            run = trials.run(actions, pictures=plan.pictures, want_backtrace=True)
            proof.film = Film(run.frames, run.opening, run.ending)
            if outcome_of(run.ending, baseline.ending) is Outcome.FAIL:
                proof.ending = replace(ending, frames=run.ending.frames or ending.frames)
                break
    return proof


def _rate(trials: Trials, actions: Sequence[Action], baseline: Baseline, plan: Plan) -> tuple[int, int]:
    """How many of how many fresh replays fail in the way that is looked for."""
    times = PROOF_RUNS if baseline.repeat == 1 else PROOF_RUNS + MORE_RUNS
    runs = trials.several(actions, times, plan.jobs)
    return sum(outcome_of(run.ending, baseline.ending) is Outcome.FAIL for run in runs), len(runs)

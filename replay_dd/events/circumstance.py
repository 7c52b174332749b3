"""User actions as a failure circumstance: parts of a session, or mixtures of a failing and a passing one.

Rules of this module:

* A run is FAIL only if it has the signature of the failure sought.
* A run that ended early shows that the actions after its failure are not needed. If the failure shows immediately, the
  run of the whole session also shows that no shorter prefix fails: the program had not failed before the last action.
* Failures of GUI programs may be intermittent; the baseline measures how often they show.
* A failure that a timer brings shows while later actions are played, which then only pass the time. So the baseline
  also tries whether the program fails without the last actions when it is watched for as long as the failing run took.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from replay_dd.circumstance import Circumstance, End, Found, Goal, Judgement
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import NotReproducedError, NoWindowError
from replay_dd.events.crash_sites import at_one_action
from replay_dd.events.describe import describe_action
from replay_dd.events.difference import SessionDifference
from replay_dd.events.failure_signature import outcome_of, told_with_output
from replay_dd.events.hangs import OnlySlowError, all_hung
from replay_dd.events.model import Action, Ending, EndingKind, Session, Window
from replay_dd.events.naming import named
from replay_dd.events.pauses import LONGER, LONGEST_LINGER_S
from replay_dd.events.run import Run
from replay_dd.events.runner import SessionRunner
from replay_dd.events.told import told_targets
from replay_dd.events.within_actions import WithinActions
from replay_dd.experiment.baseline import INTERMITTENT_RUNS
from replay_dd.experiment.journal import recalled_as
from replay_dd.outcome import Outcome

# On a busy machine the next action may have begun before the end of the program is noticed.
_NOTICED_LATE = 1
_HINT = "It started when it was recorded: check its files, its settings, and what it connects to."
_PACE_HINT = "Play it at another pace (`--pace recorded`, `--pace impatient`), or more often with `--repeats N`."


class ShowsLaterError(Exception):
    """The failure comes by itself some time after the action that causes it.

    Attributes:
        linger_s: how long to wait for it.
    """

    def __init__(self, linger_s: float) -> None:
        super().__init__(linger_s)
        self.linger_s = linger_s


@dataclass(frozen=True)
class _Kept:
    """A run as a journal keeps it: without pictures, which no run of a search takes."""

    ending: Ending
    windows: tuple[Window, ...]
    start_s: float
    play_s: float

    @classmethod
    def of(cls, run: Run) -> _Kept:
        """What is kept of a run."""
        return cls(run.ending, run.windows, run.start_s, run.play_s)

    def run(self) -> Run:
        """The run again."""
        return Run(self.ending, self.windows, self.start_s, self.play_s)


class UserActions(Circumstance[Run]):
    """The actions of a session as deltas.

    Args:
        runner: plays them.
        difference: the actions, and the deltas that each depends on.
        session: the failing session.
        simplify: find the fewest actions that fail, rather than the difference from a passing session.
        algorithm: ``bisection``, ``adaptive`` or ``ddmin``, if simplifying.
        finer: finally, also leave out single keys, clicks and moves within the remaining actions.
        exact_site: neighbouring crash sites are different failures.
        wanted: the failure sought, where it is known.
        suspecting: plays them if a hang is sought and has been seen; None until then.
        patient: wait for the whole time limit each time, also for a hang that has been seen.
    """

    name = "events"
    subject = "session"
    flaky = True
    rare_hint = "Make it fail more often: another pace or seed, more load; or try each test often, with `--repeats N`."

    def __init__(
        self,
        runner: SessionRunner,
        difference: SessionDifference | WithinActions,
        session: Session,
        *,
        simplify: bool,
        algorithm: str,
        finer: bool = False,
        exact_site: bool = False,
        wanted: Ending | None = None,
        suspecting: SessionRunner | None = None,
        patient: bool = False,
    ) -> None:
        self._runner = runner
        self._suspecting = suspecting
        self._suspected: set[tuple[Action, ...]] = set()
        self._patient = patient
        self.difference = difference
        self._session = session
        self.universe = difference.all
        self.cuts = () if isinstance(difference, WithinActions) else difference.cuts
        self.goal = Goal.SIMPLIFY if simplify else Goal.ISOLATE
        self.algorithm = algorithm if simplify else "dd"
        # Who asks for ddmin gets ddmin; and pairs of single inputs are many.
        self.pairs = algorithm != "ddmin" and not isinstance(difference, WithinActions)
        self.delta = "input" if isinstance(difference, WithinActions) else "action"
        self._finer = finer
        self._exact_site = exact_site
        self._wanted = wanted
        self._fresh: dict[tuple[Action, ...], Run] = {}
        self._watched = False  # whether it was tried if the failure comes by itself
        self._earliest = 0  # after how many actions each run had failed, if it did each time

    @property
    def wanted(self) -> Ending:
        """The failure sought."""
        assert self._wanted is not None, "settle was not called"
        return self._wanted

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Run:
        """Play the actions of a configuration on a fresh display."""
        actions = self.difference.actions(configuration)
        if fresh:
            # The baseline has seen the whole session hang by the time that anybody suspects it.
            again = configuration == self.universe and not isinstance(self.difference, WithinActions)
            run = self._play(actions, self.runner if again else self._runner, want_targets=True)
            self._check_hung(actions, run, again=again)
            self._fresh[actions] = max(self._fresh.get(actions, run), run, key=_known)
            return run
        run = self._recalled(self.runner, actions)
        if self._suspecting is not None and run.ending.kind is EndingKind.HANG:
            self._suspected.add(actions)
        return run

    @property
    def runner(self) -> SessionRunner:
        """What plays actions where nothing is to be proved."""
        return self._suspecting or self._runner

    def _check_hung(self, actions: tuple[Action, ...], run: Run, *, again: bool) -> None:
        """Look whether what hung before hangs again, at the same action.

        Raises:
            OnlySlowError: it does not.
        """
        if self._suspecting is None or not (again or actions in self._suspected):
            return
        if run.ending.kind is EndingKind.OPEN or (again and run.ending.actions < self.wanted.actions):
            raise OnlySlowError

    def _recalled(self, runner: SessionRunner, actions: Sequence[Action]) -> Run:
        return recalled_as(
            _Kept,
            lambda: (*_conditions(runner), *actions),
            lambda: self._play(actions, runner),
            _Kept.of,
            _Kept.run,
        )

    def named(self, configuration: IntervalSet) -> Session:
        """The session of a configuration's actions, with what they are done to as fresh runs have found it."""
        actions = self.difference.actions(configuration)
        run = self._fresh.get(actions)
        if run is None:
            return named(self._session, actions, (), ())
        targets = told_targets(run, lambda: self.runner.run(actions, want_targets=True, on_bus=True))
        return named(self._session, actions, targets, run.elsewhere)

    def _play(self, actions: Sequence[Action], runner: SessionRunner, *, want_targets: bool = False) -> Run:
        try:
            run = runner.run(actions, want_targets=want_targets)
        except NoWindowError as error:
            if self._wanted is None:
                raise
            return Run(replace(self._wanted, signature="no window", text=error.message), (), 0.0, 0.0)
        if runner is self._suspecting and run.ending.kind is EndingKind.HANG:
            return replace(run, ending=replace(run.ending, text=self.wanted.text))
        return run

    def judge(self, run: Run) -> Judgement:
        """By comparison with the failure that is looked for."""
        ending = run.ending
        outcome = outcome_of(ending, self.wanted, exact_site=self._exact_site)
        return Judgement(outcome, ending.text, ending.signature, ending.failed)

    def key(self, configuration: IntervalSet) -> Hashable:
        """The configuration, and what its deltas are."""
        return self.delta, configuration

    def alike(self, one: int, other: int) -> bool:
        """Whether two actions do the same."""
        return isinstance(self.difference, SessionDifference) and self.difference.alike(one, other)

    def words(self, delta: int) -> str:
        """The actions of the delta."""
        with_it = self.difference.actions(IntervalSet.of([delta]))
        without = self.difference.actions(EMPTY)
        told = [action for action in with_it if action not in without] or [
            action for action in without if action not in with_it
        ]
        return ", ".join(describe_action(action, self._session) for action in told) or f"{self.delta} {delta + 1}"

    def settle(self, runs: Sequence[Run]) -> None:
        """Look for the recorded failure, or for the one that all replays have; cut off what comes after it.

        Raises:
            NotReproducedError: no run failed as recorded.
            NoWindowError: the program ended each time before anything could be done in it.
            ShowsLaterError: the failure comes by itself, and runs do not wait for it.
        """
        failing = _same_failure(self._session, runs, exact_site=self._exact_site)
        if not failing:
            _check_usable(self._session, runs)
            if len(runs) >= INTERMITTENT_RUNS:
                raise self._not_reproduced(runs)
            self._wanted = self._session.ending or runs[0].ending
            return
        # The run that got farthest has all the actions that any of them needed.
        farthest = max(failing, key=lambda ending: ending.actions)
        others = {ending.signature for ending in failing} - {farthest.signature}
        self._wanted = replace(farthest, neighbours=tuple(sorted(others)))
        self._earliest = min(ending.actions for ending in failing) if len(failing) == len(runs) else 0
        self.universe = self.difference.played(self.difference.all, self._wanted.actions)
        hung = self._wanted.kind is EndingKind.HANG and all_hung(runs)
        self._suspecting = self._runner.suspecting() if hung and not self._patient else None
        if not self._watched:
            self._watched = True
            self._watch(min(ending.actions for ending in failing), max(run.play_s for run in runs))

    def _watch(self, actions: int, play_s: float) -> None:
        """Try whether the failure comes by itself where the last actions before it are not played.

        Whatever caused it was done while the failing run was played, so it cannot come later than that took.

        Args:
            actions: after how many the program failed.
            play_s: how long that took.
        """
        earlier = self.difference.played(self.difference.all, max(actions - 1 - _NOTICED_LATE, 0))
        if self.goal is Goal.ISOLATE or self._is_waited_for or not earlier:
            return
        linger_s = min(play_s * LONGER, LONGEST_LINGER_S)
        run = self._recalled(self._runner.watching(linger_s), self.difference.actions(earlier))
        if self.judge(run).outcome is Outcome.FAIL:
            raise ShowsLaterError(linger_s)

    @property
    def _is_waited_for(self) -> bool:
        """Whether the end of a run is watched, so that a failure may show long after its cause."""
        return self.wanted.kind in (EndingKind.ORACLE, EndingKind.HANG) or bool(self._runner.conditions.watched_s)

    def _not_reproduced(self, runs: Sequence[Run]) -> NotReproducedError:
        recorded = self._session.ending
        told = "no ending was recorded" if recorded is None else f"{recorded.text} was recorded"
        return NotReproducedError(
            f"The failure did not show again in {len(runs)} runs: {told}, and the last run ended differently: "
            f"{runs[-1].ending.text}.",
            _PACE_HINT,
        )

    def known(self) -> Mapping[IntervalSet, Outcome]:
        """That no shorter prefix fails, if the failure shows immediately and every time."""
        if self.goal is Goal.ISOLATE:
            return {}
        if isinstance(self.difference, WithinActions):
            return {EMPTY: Outcome.PASS}
        # A hang may have begun long before it was detected.
        if self._is_waited_for or not self._earliest:
            return {EMPTY: Outcome.PASS}
        reached = self.difference.played(self.difference.all, self._earliest - _NOTICED_LATE)
        return {self.universe.take(length): Outcome.PASS for length in range(max(reached.count, 1))}

    def reached(self, configuration: IntervalSet, run: Run) -> IntervalSet:
        """The deltas played before the run ended."""
        if self.goal is Goal.ISOLATE or not run.ending.failed:
            return configuration
        return self.difference.played(configuration, run.ending.actions)

    def recorded(self, end: End) -> Run | None:
        """The recorded ending of the session, if any."""
        ending = self._session.ending
        return None if ending is None or end is End.PASSING else Run(ending, (), 0.0, 0.0)

    def refine(self, passing: Found[Run], failing: Found[Run]) -> UserActions | None:
        """What can be left out within the remaining actions, if requested."""
        if not self._finer or failing.run is None or isinstance(self.difference, WithinActions):
            return None
        left = self.difference.actions(failing.configuration)[: failing.run.ending.actions]
        if not left:
            return None
        inside = WithinActions(left, self.difference.places(failing.configuration))
        return UserActions(
            *(self._runner, inside, self._session),
            simplify=True,
            algorithm=self.algorithm,
            exact_site=self._exact_site,
            wanted=replace(self.wanted, actions=len(left)),
            suspecting=self._suspecting,
        )


def _conditions(runner: SessionRunner) -> tuple[object, ...]:
    """What the outcome of a run depends on, beside its actions."""
    conditions = runner.conditions
    return conditions.pace.value, conditions.linger_s, conditions.hang_limit_s


def _known(run: Run) -> tuple[int, int]:
    """Of how many actions a run knows what they were done to, and of how many it was played at all."""
    return sum(map(bool, run.targets)), len(run.targets)


def _check_usable(session: Session, runs: Sequence[Run]) -> None:
    last = runs[-1].ending
    if any(run.ending.actions or run.ending.kind is EndingKind.OPEN for run in runs):
        return
    recorded = session.ending
    if recorded is None or recorded.actions:
        raise NoWindowError(f"The program ended before anything could be done in it: {told_with_output(last)}.", _HINT)


def _same_failure(session: Session, runs: Sequence[Run], *, exact_site: bool) -> list[Ending]:
    """The endings of the failure to look for: the recorded one or, if no replay has that, the most frequent like it.

    A recording on the user's own display does not know where a program crashed, and offsets differ between machines.
    """
    failing = [run.ending for run in runs if run.ending.failed]
    recorded = session.ending
    models = failing
    if recorded is not None:
        models = [ending for ending in failing if ending.signature == recorded.signature] or [
            ending for ending in failing if _kind(ending) == _kind(recorded)
        ]

    def like(model: Ending) -> list[Ending]:
        return [
            ending
            for ending in failing
            if outcome_of(ending, model, exact_site=exact_site) is Outcome.FAIL
            or (not exact_site and at_one_action(ending, model))
        ]

    return max((like(model) for model in models), key=len, default=[])


def _kind(ending: Ending) -> tuple[object, int | None, int | None]:
    return ending.kind, ending.signal, ending.status

"""Isolates the few actions of a session that make a program fail.

Rules of this module:

* Needed actions are found from the last one backwards, each by binary search (:class:`~replay_dd.dd.PrefixBisection`),
  with a final check that each is needed: 1-minimal for every program.
* A session that does not fail at its pace is tried at the slower ones. If its failure comes by itself some time after
  its cause, each run waits for it.
* The answer is itself a session, which replays under the conditions under which it was tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError
from replay_dd.errors.user import NothingRecordedError, TwoProgramsError
from replay_dd.events.actions import actions_of
from replay_dd.events.circumstance import ShowsLaterError, UserActions
from replay_dd.events.difference import SessionDifference, difference_of, with_shared_windows
from replay_dd.events.displays import DisplaySupply
from replay_dd.events.hangs import OnlySlowError
from replay_dd.events.model import Action, Ending, Pace, Session
from replay_dd.events.pauses import linger_of
from replay_dd.events.result import Film, SessionIsolation
from replay_dd.events.run import Conditions, Run
from replay_dd.events.runner import SessionRunner
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.result import Isolation
from replay_dd.outcome import Outcome

ALGORITHMS = ("bisection", "adaptive", "ddmin")
# A recorder on a busy machine notices a failure so late that may have come immediately.
_LATER_S = 1.0


@dataclass(frozen=True)
class Plan:
    """The options of an isolation.

    Attributes:
        jobs: the number of parallel runs.
        conditions: how to make each run; ``pace`` takes precedence over their pace.
        pace: the pace; None for that of the session, or the first slower one at which it fails.
        repeat: how many times to run a configuration that does not fail; None to derive it from the measured rate.
        algorithm: ``"bisection"``, ``"adaptive"``, or ``"ddmin"`` of the ISSTA 2000 paper.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        pictures: a folder for the film of the minimal session; None for no film.
        window_manager: the window manager; None for that of the session.
        finer: finally, also leave out single keys, clicks and moves within the remaining actions.
        exact_site: crashes at neighbouring places of the program are different failures.
        patient: wait for the whole time limit in each run that hangs.
    """

    jobs: int = 1
    conditions: Conditions = field(default_factory=Conditions)
    pace: Pace | None = None
    repeat: int | None = None
    algorithm: str = "bisection"
    max_tests: int | None = None
    time_budget_s: float | None = None
    pictures: Path | None = None
    window_manager: str | None = None
    finer: bool = False
    exact_site: bool = False
    patient: bool = False


def isolate_events(
    session: Session, plan: Plan, *, passing: Session | None = None, observer: Observer = NO_OBSERVER
) -> SessionIsolation:
    """Find the actions that a failure needs, or the difference from a passing session.

    Args:
        session: the failing session.
        plan: the options.
        passing: a session of the same program that does not fail.
        observer: receives progress.

    Raises:
        ReplayDDError: the sessions cannot be used, or the failure does not recur.
    """
    pace = plan.pace or session.pace
    slower = list(Pace)[list(Pace).index(pace) + 1 :] if plan.pace is None else []
    while True:
        try:
            return _isolate(session, replace(plan, pace=pace), passing, observer)
        except ShowsLaterError as error:
            observer.on_note(f"the failure comes by itself; each run waits {error.linger_s:.1f} s for it")
            plan = replace(plan, conditions=replace(plan.conditions, linger_s=error.linger_s))
        except OnlySlowError:
            observer.on_note("the program is slow where it seemed to hang; each run waits longer for it")
            plan = replace(plan, patient=True)
        except NotReproducedError:
            if not slower:
                raise
            observer.on_note(f"it does not fail at the pace `{pace.value}`; trying `{slower[0].value}`")
            pace = slower.pop(0)


def _isolate(session: Session, plan: Plan, passing: Session | None, observer: Observer) -> SessionIsolation:
    actions = actions_of(session)
    if plan.conditions.oracle is not None:
        session = replace(session, ending=None)  # the recorded ending is not the failure sought
    _check(session, actions, passing)
    manager = session.window_manager if plan.window_manager is None else plan.window_manager
    if passing is not None:
        passing = replace(passing, recorder="isolated", events=(), changes=(), targets=(), actions=actions_of(passing))
        session, passing = with_shared_windows(session, passing)
    pace = plan.pace or session.pace
    linger_s = plan.conditions.linger_s
    if not (linger_s or (session.verified and pace is session.pace)):
        # Nobody has tried yet whether the failure has to be waited for.
        linger_s = linger_of(session, actions, least_s=_LATER_S)
    difference = difference_of(actions, () if passing is None else passing.actions)
    with DisplaySupply(session.screen, manager, plan.jobs) as supply:
        runner = SessionRunner(session, replace(plan.conditions, pace=pace, linger_s=linger_s), supply)
        circumstance = UserActions(
            *(runner, difference, session),
            simplify=passing is None,
            algorithm=plan.algorithm,
            finer=plan.finer and passing is None,
            exact_site=plan.exact_site,
            patient=plan.patient,
        )
        isolation = isolate_cause(
            circumstance,
            jobs=plan.jobs,
            max_tests=plan.max_tests,
            time_limit_s=plan.time_budget_s,
            repeat=plan.repeat,
            observer=observer,
        )
        last = isolation.circumstance
        assert isinstance(last, UserActions)
        assert isolation.failing.run is not None
        ending = replace(isolation.failing.run.ending, neighbours=_others(last.wanted, isolation.failing.run.ending))
        told = last.named(isolation.failing.configuration)
        left = told.actions[: ending.actions]
        film, film_interrupted = None, False
        if plan.pictures is not None and not isolation.interrupted:
            try:
                film = _film(last.runner, left, last, isolation.baseline.repeat, plan.pictures)
            except KeyboardInterrupt:
                film_interrupted = True
            if film is not None:
                ending = with_backtrace(ending, film.ending)
    minimal = replace(
        session,
        recorder="isolated",
        events=(),
        changes=(),
        targets=(),
        windows=told.windows,
        actions=left,
        ending=ending,
        pace=pace,
        window_manager=manager,
        playback=runner.conditions.playback,
        verified=isolation.proof.failing.steady if isolation.proof.made else None,
    )
    found = SessionIsolation(
        isolation=isolation,
        original=session,
        original_actions=actions,
        minimal=minimal,
        needed=last.difference.places(isolation.failing.configuration)[: len(left)],
        ending=ending,
        film=film,
        film_interrupted=film_interrupted,
    )
    return found if passing is None else _with_passing(found, passing, difference, isolation)


def _with_passing(
    found: SessionIsolation, passing: Session, difference: SessionDifference, isolation: Isolation[Run]
) -> SessionIsolation:
    c_pass, c_fail = isolation.passing.configuration, isolation.failing.configuration
    named = iter(found.minimal.actions)
    compared = tuple(
        replace(item, action=next(named, item.action)) if item.in_failing else item
        for item in difference.compared(c_pass, c_fail)
    )
    return replace(
        found,
        needed=tuple(item.place for item in compared if not item.in_passing),
        passing=replace(
            passing,
            actions=difference.actions(c_pass),
            pace=found.minimal.pace,
            window_manager=found.minimal.window_manager,
            playback=found.minimal.playback,
        ),
        compared=compared,
    )


def _others(wanted: Ending, ending: Ending) -> tuple[str, ...]:
    """The signatures that count as the same failure, without that of the ending itself."""
    return tuple(sorted({wanted.signature, *wanted.neighbours} - {ending.signature}))


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
            raise TwoProgramsError(
                f"The two sessions have different {what}.",
                "Give two sessions of the same command on screens of the same size.",
            )


def with_backtrace(ending: Ending, filmed: Ending) -> Ending:
    """An ending with the backtrace of the film, for which gdb was asked; but not with that of a neighbouring crash."""
    if filmed.signature != ending.signature:
        return ending
    return replace(ending, frames=filmed.frames or ending.frames)


def _film(
    runner: SessionRunner, actions: Sequence[Action], circumstance: UserActions, tries: int, folder: Path
) -> Film | None:
    """Film the answer, until it fails as it should."""
    folder.mkdir(parents=True, exist_ok=True)
    film = None
    for _ in range(tries):
        run = runner.run(actions, pictures=folder, want_backtrace=True, want_targets=True)
        film = Film(run.frames, run.opening, run.ending)
        if circumstance.judge(run).outcome is Outcome.FAIL:
            break
    return film

"""Minimises a schedule: the fewest triggers with which a run still ends as it did (ddmin from the default schedule)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from replay_dd.dd import EMPTY, DDMin, IntervalSet, Search, Step
from replay_dd.experiment.process import LIVE
from replay_dd.experiment.search import run_search
from replay_dd.outcome import Outcome
from replay_dd.schedules.errors import NotReproducedError
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.model import Log, Trigger
from replay_dd.schedules.selfcheck import check_deterministic
from replay_dd.schedules.signature import PASSED, Signature, signature_of
from replay_dd.schedules.trials import ScheduleTests


@dataclass(frozen=True)
class ScheduleMinimum:
    """The result of a minimisation.

    Attributes:
        log: the log of the run under the minimal schedule.
        triggers_before: how many choices of the schedule given were not the default ones.
        tests: runs that the search executed.
        tests_requested: outcomes that the algorithm asked for.
        complete: whether the search ended by itself, not by a limit or by Ctrl-C.
        interrupted: whether Ctrl-C stopped it.
    """

    log: Log
    triggers_before: int
    tests: int
    tests_requested: int
    complete: bool
    interrupted: bool = False


def minimize(
    log: Log,
    *,
    jobs: int = 1,
    time_limit_s: float | None = None,
    search_limit_s: float | None = None,
    runner: Runner | None = None,
    failure: str = "",
    on_test: Callable[[Step, Signature], None] | None = None,
) -> ScheduleMinimum:
    """Find a 1-minimal set of triggers with which the program still ends as in the log.

    Works for passing logs as well: what is kept is the ending, whichever it is. A program that ends so under the
    default schedule needs no triggers at all.

    Args:
        log: the log of the run.
        jobs: how many runs at the same time.
        time_limit_s: seconds after which a run is killed; None for a limit drawn from the recorded run.
        search_limit_s: seconds after which the search stops with its best result so far.
        runner: what runs the program; one of its own where none is given.
        failure: what the words for the ending must contain besides.
        on_test: called after each executed test, in order, with the ending of its run.

    Raises:
        NotDeterministicError: two replays of the log are not the same run.
        NotReproducedError: the run does not end as in the log any more.
    """
    if time_limit_s is None:
        time_limit_s = 10 + 20 * log.ending.seconds
    if runner is None:
        with Runner(log.program, log.settings) as own:
            return _minimize(log, jobs, time_limit_s, search_limit_s, own, failure, on_test)
    return _minimize(log, jobs, time_limit_s, search_limit_s, runner, failure, on_test)


def _minimize(
    log: Log,
    jobs: int,
    time_limit_s: float,
    search_limit_s: float | None,
    runner: Runner,
    failure: str,
    on_test: Callable[[Step, Signature], None] | None,
) -> ScheduleMinimum:
    tests = ScheduleTests(log, runner, time_limit_s)
    wanted = signature_of(log.ending)
    triggers = tuple(sorted(log.triggers))

    def chosen(configuration: IntervalSet) -> tuple[Trigger, ...]:
        return tuple(triggers[number] for number in configuration)

    def test(configuration: IntervalSet) -> Outcome:
        """FAIL where the run ends as in the log: that is what ddmin keeps."""
        found = signature_of(tests.run(chosen(configuration)).ending)
        if found.same(wanted) and failure in found.text:
            return Outcome.FAIL
        return Outcome.PASS if found.kind == PASSED else Outcome.UNRESOLVED

    def tell(step: Step) -> None:
        if on_test is not None:
            on_test(step, signature_of(tests.run(chosen(step.configuration)).ending))

    check_deterministic(tests, log, "given")
    everything = IntervalSet.range(0, len(triggers))
    if test(EMPTY) is Outcome.FAIL:
        return ScheduleMinimum(tests.run(()), len(triggers), 1, 1, True)
    if test(everything) is not Outcome.FAIL:
        ending = signature_of(tests.run(triggers).ending).text
        raise NotReproducedError(
            f"The log did not replay: {wanted.text} was recorded, and the run ended with {ending}."
        )
    search = Search(DDMin(everything), known={EMPTY: Outcome.PASS, everything: Outcome.FAIL})
    result = run_search(search, test, jobs=jobs, time_limit_s=search_limit_s, on_test=tell, on_interrupt=LIVE.kill_all)
    return ScheduleMinimum(
        log=tests.run(chosen(result.c_fail)),
        triggers_before=len(triggers),
        tests=result.executed + 2,
        tests_requested=result.requested + 2,
        complete=result.complete,
        interrupted=result.stopped_by == "interrupt",
    )

"""Isolates the change that makes a program fail: ``replay-dd changes``.

Rules of this module:

* Isolating goes down the levels, from folders to lines, and gives two neighbouring mixtures: one passes, the other one
  has the guilty change besides, and fails.
* The patch is for the old version. If the guilty change alone does not make that fail, it needs others; which ones is
  found by minimising what was applied together with it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from replay_dd.changes.circumstance import CodeChanges, more_runs_of_new, no_failure_in_new
from replay_dd.changes.coverage import never_executed, worth_observing
from replay_dd.changes.difference import Difference
from replay_dd.changes.divergences import Divergence, divergences
from replay_dd.changes.history import commits_between, first_failing
from replay_dd.changes.levels import DEFAULT_LEVELS
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.sameness import strictest, without_line_numbers
from replay_dd.changes.sources import Version, checked_out
from replay_dd.changes.suspects import likeliest
from replay_dd.changes.tree import Tree, read_tree
from replay_dd.changes.workshop import Target, Workshop
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, NotReproducedError
from replay_dd.errors.user import NoDifferenceError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS, MEASURED_RUNS, Rate, sequential_test
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.result import Isolation
from replay_dd.outcome import Outcome

_IN_ITS_FOLDER = "The command, and `--build`, are run in a copy of the version, which comes first on PYTHONPATH."
_MOST_FOR_NEEDS = 60
"""How many tests may be spent on what the guilty change needs: the change itself is known by then."""

_LONG_ANSWER = 20
"""Changes: of more, people want to know where to start."""
_MOST_DIVERGENCES = 3


@dataclass(frozen=True)
class ChangesIsolation:
    """Which change makes a program fail.

    Attributes:
        isolation: the driver's result.
        difference: all changes.
        passing: the changes applied in the mixture that passes.
        failing: those applied in the one that fails.
        needed: the changes that make the old version fail, the guilty one among them; None if the search was stopped,
            or if a clean build does not fail with them.
        needed_by: the search for those that the guilty change needs; None if it needs none.
        left_out: the changes that were left out before the search, since neither version executes them.
        rounds: how many more runs it took to try mixtures again that missed names.
        undivided: whether the search ended since too many tests told nothing: the answer may be more than is needed.
        diverged: where the versions first behave differently, the likeliest cause first; empty where the answer is
            short, or nothing is seen.
        unconfirmed: whether what it seemed to need does not fail in a clean build, so that this is not known.
    """

    isolation: Isolation[Ending]
    difference: Difference
    passing: IntervalSet
    failing: IntervalSet
    needed: IntervalSet | None
    needed_by: Isolation[Ending] | None = None
    left_out: IntervalSet = EMPTY
    rounds: int = 0
    undivided: bool = False
    unconfirmed: bool = False
    diverged: Sequence[Divergence] = ()

    @property
    def guilty(self) -> IntervalSet:
        """The changes that make the difference."""
        return self.failing - self.passing


def isolate_changes(
    old: Tree,
    new: Tree,
    target: Target,
    *,
    oracle: Oracle | None = None,
    levels: Sequence[str] = DEFAULT_LEVELS,
    algorithm: str = "dd",
    coverage: bool = True,
    resolve: bool = True,
    jobs: int = 1,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    observer: Observer = NO_OBSERVER,
) -> ChangesIsolation:
    """Find the change between two versions of a program that makes it fail.

    Args:
        old: the version that passes.
        new: the version that fails.
        target: what to run in a version.
        oracle: what counts as a failure; by default, an exit status other than 0, a signal, or the time limit.
        levels: keys of :data:`~replay_dd.changes.levels.LEVELS`, coarse ones first.
        algorithm: ``dd`` or ``dd+``.
        coverage: leave out first what neither version executes.
        resolve: try mixtures that miss names again with the changes that these belong to.
        jobs: the number of runs at the same time; the answer does not depend on it.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        observer: receives progress.

    Raises:
        NoDifferenceError: both versions are the same.
        DoesNotPassError: the old version fails, or is not built.
        DoesNotFailError: the new version does not fail.
        NotReproducedError: an end does not behave the same way each time.
        ProgramNotFoundError: there is no such program.

    Source: WYNOT, ESEC/FSE 1999, sections 4 and 5.
    """
    difference = Difference(old, new)
    if not difference.all:
        raise NoDifferenceError(
            "Both versions are the same.", "Give the version that passes first, then the one that fails."
        )
    started = time.monotonic()
    with Workshop(difference, target, oracle or Oracle()) as workshop:
        resolution = Resolution(difference, workshop.breaks) if resolve else None
        left_out = EMPTY
        if coverage and target.runner is None and worth_observing(difference):
            observer.on_stage("looking which changes are executed")
            left_out = _not_needed(difference, workshop, built=target.build is not None)
        passing_end = workshop.run(EMPTY)
        if passing_end.verdict is not Outcome.PASS:
            failing_end = workshop.run(difference.all)
            if passing_end.verdict is Outcome.UNRESOLVED and failing_end.verdict is Outcome.FAIL:
                raise DoesNotPassError(f"The old version does not pass: {passing_end.words}.", _IN_ITS_FOLDER)
            if passing_end.verdict is Outcome.FAIL and failing_end.verdict is not Outcome.FAIL:
                error = no_failure_in_new([failing_end])
                raise DoesNotFailError(f"{error} The old one does.", "Swap them: OLD passes, and NEW fails.")

        circumstance = CodeChanges(
            *(difference, workshop, levels),
            candidates=difference.all - left_out,
            algorithm=algorithm,
            resolution=resolution,
        )
        isolation = isolate_cause(
            circumstance, jobs=jobs, max_tests=max_tests, time_limit_s=time_budget_s, observer=observer
        )
        final = isolation.circumstance
        assert isinstance(final, CodeChanges)
        passing, failing = isolation.passing.configuration, isolation.failing.configuration
        rounds = 0 if resolution is None else resolution.rounds
        found = ChangesIsolation(
            *(isolation, difference, passing, failing, None),
            left_out=left_out,
            rounds=rounds,
            undivided=final.undivided,
        )
        if found.guilty.count > _LONG_ANSWER and target.runner is None and isolation.stopped_by != "interrupt":
            observer.on_stage("comparing which functions are called")
            diverged = likeliest(difference, divergences(workshop.calls(EMPTY), workshop.calls(difference.all)))
            found = replace(found, diverged=tuple(diverged[:_MOST_DIVERGENCES]))
        if not isolation.complete:
            return found
        tests_left = _MOST_FOR_NEEDS if max_tests is None else min(max(max_tests - isolation.tests, 0), _MOST_FOR_NEEDS)
        time_left = None if time_budget_s is None else time_budget_s - (time.monotonic() - started)
        observer.on_stage("applying the guilty change alone")
        alone = final.needed_with(found.guilty, failing)
        if alone.judge(alone.run(found.guilty)).outcome is Outcome.FAIL:
            return _proved(found, alone, found.guilty)
        alone = final.needed_with(found.guilty, alone.failing_near_base())
        try:
            jobs = isolation.baseline.jobs
            needs = isolate_cause(
                alone, jobs=jobs, max_tests=tests_left, time_limit_s=time_left, proof_runs=0, observer=observer
            )
        except (DoesNotFailError, DoesNotPassError, NotReproducedError):
            return found  # the proof has failed, too: it was run from a clean build
        return replace(_proved(found, alone, needs.failing.configuration), needed_by=needs)


def _proved(found: ChangesIsolation, circumstance: CodeChanges, needed: IntervalSet) -> ChangesIsolation:
    """The result with what it needs, if a clean build fails: another may find what other mixtures left behind."""
    if needed == found.failing and found.isolation.verified:
        return replace(found, needed=needed)  # the search has proved it
    baseline = found.isolation.baseline
    varies = baseline.repeat > 1 or baseline.intermittent
    times = max(INTERMITTENT_RUNS, baseline.repeat) if varies else 1
    fresh = (circumstance.judge(circumstance.run(needed, fresh=True)).outcome for _ in range(times))
    fails = any(outcome is Outcome.FAIL for outcome in fresh)
    return replace(found, needed=needed) if fails else replace(found, unconfirmed=True)


def _not_needed(difference: Difference, workshop: Workshop, *, built: bool) -> IntervalSet:
    """The changes that neither version executes, if the new version fails in the same way without them."""
    failing, in_new = workshop.observed(difference.all)
    passing, in_old = workshop.observed(EMPTY)
    if failing.verdict is not Outcome.FAIL or passing.verdict is not Outcome.PASS:
        return EMPTY  # the baseline will tell, or being observed makes a difference
    wanted, tried = without_line_numbers(failing), EMPTY
    same = strictest([wanted, without_line_numbers(workshop.run(difference.all))])
    for beside in (True, False):
        left_out = never_executed(difference, in_old, in_new, built=built, beside=beside)
        if left_out in (EMPTY, tried, difference.all):
            continue
        run = without_line_numbers(workshop.run(difference.all - left_out))
        if run.verdict is Outcome.FAIL and same(run) == same(wanted):
            return left_out
        tried = left_out
    return EMPTY


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The two neighbouring commits between which a program begins to fail.

    Attributes:
        old: the last one that passes.
        new: the first one that fails.
        commits: how many there were.
        tests: how many of them were run.
        tried: the commits that were run and what came out, in order.
        times: how often a commit was run before it counted as passing.
    """

    old: Version
    new: Version
    commits: int
    tests: int
    tried: tuple[tuple[str, Outcome], ...] = ()
    times: int = 1


def narrow_history(
    old: Version,
    new: Version,
    target: Target,
    folder: Path,
    *,
    oracle: Oracle | None = None,
    varies: bool = False,
    observer: Observer = NO_OBSERVER,
) -> Narrowed | None:
    """Find the commit that brought a failure by binary search; None where there is no history between the versions.

    Args:
        old: the version that passes.
        new: the version that fails.
        target: what to run in a version.
        folder: an empty folder for the versions in between.
        oracle: what counts as a failure.
        varies: the failure is known not to show every time: no single run says anything.
        observer: receives progress.

    Raises:
        DoesNotPassError: the old version fails, or is not built.
        DoesNotFailError: the new version does not fail.
        ProgramNotFoundError: there is no such program.
    """
    repository = new.repository
    if repository is None or old.repository != repository:
        return None
    commits = commits_between(repository, old.revision, new.revision)
    if len(commits) < 2:
        return None

    def version(number: int) -> Version:
        if number < 0:
            return old
        if number == len(commits) - 1:
            return new
        place = folder / str(number)
        place.mkdir(exist_ok=True)
        known = place / "files"
        tree = read_tree(known) if known.is_dir() else checked_out(repository, commits[number], place)
        return Version(commits[number], tree, repository, commits[number])

    def ending(number: int) -> Ending:
        observer.on_stage(f"commit {number + 1} of {len(commits)}")
        difference = Difference(old.tree, version(number).tree)
        with Workshop(difference, target, oracle or Oracle()) as workshop:
            return without_line_numbers(workshop.run(difference.all))

    def ended(number: int, times: int) -> Ending:
        """The first of so many runs that does not pass, or else the last one."""
        found = ending(number)
        for _ in range(times - 1):
            if found.verdict is not Outcome.PASS:
                break
            found = ending(number)
        return found

    def outcome(number: int) -> Outcome:
        found = ended(number, times)
        other = found.verdict is Outcome.FAIL and same(found) != same(wanted)
        verdict = Outcome.UNRESOLVED if other else found.verdict
        tried.append((version(number).revision, verdict))
        return verdict

    runs = [ending(len(commits) - 1) for _ in range(MEASURED_RUNS)]
    runs += [ending(len(commits) - 1) for _ in range(more_runs_of_new(runs))]
    failures = _failures_in(runs)
    if not failures:
        raise no_failure_in_new(runs)
    times, steady = 1, len(failures) == len(runs) and not varies
    while True:
        if not steady:
            observer.on_stage("the failure does not show every time: measuring how often")
            runs += [ending(len(commits) - 1) for _ in range(INTERMITTENT_RUNS - len(runs))]
            failures = _failures_in(runs)
            times = max(sequential_test(Rate(len(failures), len(runs))).runs_to_pass, MEASURED_RUNS)
        wanted, same = failures[0], strictest(failures)
        first = ended(-1, times)
        if first.verdict is not Outcome.PASS:
            raise DoesNotPassError(f"The old version does not pass: {first.words}.")
        tried = [(new.revision, Outcome.FAIL), (old.revision, Outcome.PASS)]
        passing, failing = first_failing(len(commits), outcome)
        # What passed once may fail the next time: then no single run says anything.
        if times > 1 or passing < 0 or ended(passing, MEASURED_RUNS).verdict is Outcome.PASS:
            return Narrowed(version(passing), version(failing), len(commits), len(tried), tuple(tried), times)
        steady = False


def _failures_in(runs: Sequence[Ending]) -> list[Ending]:
    return [run for run in runs if run.verdict is Outcome.FAIL]

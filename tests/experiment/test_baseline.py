"""Whether runs at the same time disturb each other, as the baseline finds out, with simulated programs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import count
from typing import Literal

import pytest

from replay_dd.circumstance import Circumstance, Goal, Judgement
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import NotReproducedError
from replay_dd.experiment.driver import Observer, isolate_cause
from replay_dd.outcome import Outcome
from replay_dd.report.isolation import isolation_as_json, search_as_text

IN_USE = "the port is in use"
WRONG = "wrong price"


class Program(Circumstance[str]):
    """A run is what the program said; it fails with delta 2.

    Args:
        goal: what to look for.
        taken_by: what is disturbed by runs at the same time; None for nothing.
    """

    flaky = True
    universe = IntervalSet.range(0, 4)

    def __init__(self, goal: Goal, taken_by: IntervalSet | None) -> None:
        self.goal = goal
        self.algorithm = "dd" if goal is Goal.ISOLATE else "bisection"
        self._taken_by = taken_by
        self.beside = 0  # how many runs between the two ends were made at the same time as others

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> str:
        # Runs that are made one at a time are made by the driver's own thread.
        beside = threading.current_thread() is not threading.main_thread()
        if beside and configuration == self._taken_by:
            return IN_USE
        self.beside += beside and configuration not in (self.universe, EMPTY)
        return WRONG if 2 in configuration else ""

    def judge(self, run: str) -> Judgement:
        if not run:
            return Judgement(Outcome.PASS, "it passes")
        return Judgement(Outcome.FAIL if run == WRONG else Outcome.UNRESOLVED, run, run, failed=True)

    def compare(self, one: str, other: str) -> str:
        return "" if one == other else other


@pytest.mark.parametrize("taken_by", [Program.universe, EMPTY])
@pytest.mark.parametrize("goal", Goal)
def test_runs_are_made_one_at_a_time_where_those_of_an_end_disturb_each_other(
    goal: Goal, taken_by: IntervalSet
) -> None:
    program = Program(goal, taken_by)
    found = isolate_cause(program, jobs=4)
    assert list(found.difference) == [2]
    assert program.beside == 0
    assert found.verified
    assert found.baseline.rate.steady
    assert (found.baseline.jobs, found.baseline.disturbed) == (1, IN_USE)
    told = f"runs were made one at a time, since one at the same time as others ended differently: {IN_USE}"
    assert f"serial       {told}" in search_as_text(found)
    assert isolation_as_json(found, notes=["another"])["notes"] == [told, "another"]


@pytest.mark.parametrize("goal", Goal)
def test_runs_that_do_not_disturb_each_other(goal: Goal) -> None:
    program = Program(goal, None)
    found = isolate_cause(program, jobs=4)
    assert program.beside > 0
    assert (found.baseline.jobs, found.baseline.disturbed) == (4, "")
    assert not any(line.startswith("serial") for line in search_as_text(found))
    assert isolation_as_json(found)["notes"] == []


class MetLater(Program):
    """The first runs at the same time happen not to meet; later ones do, unless they never meet."""

    def __init__(self, *, alone_too: bool) -> None:
        super().__init__(Goal.ISOLATE, None)
        self._alone_too = alone_too
        self._runs = count(1)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> str:
        beside = self._alone_too or threading.current_thread() is not threading.main_thread()
        late = configuration == self.universe and next(self._runs) > 3
        return IN_USE if late and beside else super().run(configuration, fresh=fresh)

    def settle(self, runs: Sequence[str]) -> None:
        if len(set(runs)) > 1:
            raise NotReproducedError("It failed in two ways.")


def test_runs_that_disturb_each_other_later_are_made_again_alone() -> None:
    found = isolate_cause(MetLater(alone_too=False), jobs=4)
    assert list(found.difference) == [2]
    assert (found.baseline.jobs, found.baseline.disturbed) == (1, IN_USE)
    assert found.baseline.rate.steady


def test_a_program_that_fails_in_two_ways_alone_is_refused() -> None:
    with pytest.raises(NotReproducedError, match="two ways"):
        isolate_cause(MetLater(alone_too=True), jobs=4)


class MetLaterStill(MetLater):
    """That they meet is no error: the failure shows less often then."""

    def settle(self, runs: Sequence[str]) -> None:
        pass


def test_runs_that_disturb_each_other_later_do_not_make_a_failure_intermittent() -> None:
    found = isolate_cause(MetLaterStill(alone_too=False), jobs=4)
    assert list(found.difference) == [2]
    assert (found.baseline.jobs, found.baseline.disturbed) == (1, IN_USE)
    assert found.baseline.rate.steady


def test_what_begins_to_vary_alone_is_not_disturbed() -> None:
    found = isolate_cause(MetLaterStill(alone_too=True), jobs=4)
    assert (found.baseline.jobs, found.baseline.disturbed) == (4, "")
    assert not found.baseline.rate.steady


class MixturesMeet(Program):
    """The ends are not disturbed, only what lies between them.

    Args:
        goal: what to look for.
        alone_too: whether mixtures end like that alone, too; mostly means in other words each time.
    """

    def __init__(self, goal: Goal, alone_too: Literal["always", "mostly", "never"] = "never") -> None:
        super().__init__(goal, None)
        self._alone_too = alone_too
        self._alone = count(1)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> str:
        made = super().run(configuration, fresh=fresh)
        if configuration in (self.universe, EMPTY):
            return made
        if threading.current_thread() is not threading.main_thread() or self._alone_too == "always":
            return IN_USE
        if self._alone_too == "mostly":
            return f"{IN_USE} for the {next(self._alone)}th time"
        return made


@pytest.mark.parametrize("goal", Goal)
def test_mixtures_that_disturb_each_other_are_tested_again_alone(goal: Goal) -> None:
    stages: list[str] = []
    found = isolate_cause(MixturesMeet(goal), jobs=4, observer=Observer(on_stage=stages.append))
    assert list(found.difference) == [2]
    assert found.verified
    assert (found.baseline.jobs, found.baseline.disturbed) == (1, IN_USE)
    assert "runs at the same time disturb each other: searching again, one run at a time" in stages
    assert not found.unresolved


@pytest.mark.parametrize("alone_too", ["always", "mostly"])
def test_mixtures_that_end_without_meaning_alone_are_left_unresolved(alone_too: Literal["always", "mostly"]) -> None:
    found = isolate_cause(MixturesMeet(Goal.SIMPLIFY, alone_too), jobs=4)
    assert found.difference == Program.universe
    assert (found.baseline.jobs, found.baseline.disturbed) == (4, "")
    ((ending, _),) = found.unresolved
    assert ending.words == IN_USE


class Steady(Program):
    """All runs of a configuration are the same one."""

    flaky = False

    def __init__(self) -> None:
        super().__init__(Goal.ISOLATE, None)
        self.runs: list[IntervalSet] = []

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> str:
        self.runs.append(configuration)
        return super().run(configuration, fresh=fresh)


def test_nobody_asks_whether_runs_that_never_vary_disturb_each_other() -> None:
    made = []
    for jobs in (1, 4):
        program = Steady()
        isolate_cause(program, jobs=jobs, proof_runs=0)
        made.append((program.runs.count(program.universe), program.runs.count(EMPTY)))
    assert made[0] == made[1]


class Varying(Program):
    """Every third run says something else, whether it is alone or not."""

    def __init__(self) -> None:
        super().__init__(Goal.SIMPLIFY, None)
        self._runs = count(1)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> str:
        made = super().run(configuration, fresh=fresh)
        return IN_USE if made and next(self._runs) % 3 == 0 else made


def test_what_varies_by_itself_is_not_disturbed() -> None:
    found = isolate_cause(Varying(), jobs=4)
    assert not found.baseline.rate.steady
    assert (found.baseline.jobs, found.baseline.disturbed) == (4, "")


class VaryingAndDisturbed(Varying):
    """The failing end fails in every third run, and the passing one is disturbed."""

    def __init__(self) -> None:
        super().__init__()
        self.goal, self.algorithm = Goal.ISOLATE, "dd"
        self._taken_by = EMPTY
        self.alone = 0

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> str:
        if configuration:
            return WRONG if super().run(configuration, fresh=fresh) == IN_USE else ""
        self.alone += threading.current_thread() is threading.main_thread()
        return super().run(configuration, fresh=fresh)


def test_a_disturbed_end_is_run_alone_as_often_as_another_is_run() -> None:
    circumstance = VaryingAndDisturbed()
    found = isolate_cause(circumstance, jobs=4)
    assert found.baseline.jobs == 1
    assert circumstance.alone >= found.baseline.repeat > 6

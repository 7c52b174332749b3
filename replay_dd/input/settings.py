"""Command-line options and environment variables as a failure circumstance.

Rules of this module:

* A delta is an option with its value, or a variable; without it, the command does not get it. The input stays whole.
* Asked which settings *prevent* a failure, the outcomes change places: what is minimized is a set of settings with
  which the program passes, while without them it fails (the options of GCC in ISSTA 2000, section 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from replay_dd.circumstance import Goal, Judgement
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.errors.program import DoesNotFailError, DoesNotPassError
from replay_dd.experiment.driver import NO_OBSERVER, Observer, isolate_cause
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.experiment.journal import recalled
from replay_dd.experiment.result import Isolation
from replay_dd.input.program_runs import ProgramRuns
from replay_dd.input.reduce import ALGORITHMS, DEFAULT_TIME_LIMIT_S
from replay_dd.input.target import Target
from replay_dd.outcome import Outcome

_MORE_RUNS = 5  # of a command that fails without any setting, to see whether it does so each time

Option = tuple[str, ...]
"""An option, with the words that follow it."""


def options_of(words: Sequence[str]) -> tuple[Option, ...]:
    """Words of a command line, as options; a word without a dash belongs to the option before it."""
    found: list[Option] = []
    for word in words:
        if found and not word.startswith("-") and found[-1][0].startswith("-"):
            found[-1] = (*found[-1], word)
        else:
            found.append((word,))
    return tuple(found)


class Settings(ProgramRuns):
    """Options and environment variables.

    Args:
        target: runs the program.
        oracle: says what counts as a failure.
        content: the input.
        options: what the command may get besides.
        variables: environment variables that it may get; others it always gets.
        prevents: look for settings without which the program fails.
        algorithm: a key of :data:`~replay_dd.circumstance.ALGORITHMS`.
        fixed_limit: keep the target's time limit.
    """

    name = "options"
    subject = "command"
    goal = Goal.SIMPLIFY

    def __init__(
        self,
        target: Target,
        oracle: Oracle,
        content: bytes,
        options: Sequence[Option],
        variables: Mapping[str, str],
        *,
        prevents: bool,
        algorithm: str,
        fixed_limit: bool,
    ) -> None:
        super().__init__(target, oracle, fixed_limit=fixed_limit)
        self._content = content
        self._options = tuple(options)
        self._variables = tuple(sorted(variables.items()))
        self._always = {name: value for name, value in target.environment.items() if name not in variables}
        self.prevents = prevents
        self.algorithm = algorithm
        self.delta = "setting" if options and variables else "option" if options else "variable"
        self.universe = IntervalSet.range(0, len(self._options) + len(self._variables))

    def applied(self, configuration: IntervalSet) -> tuple[tuple[Option, ...], dict[str, str]]:
        """The options and variables of a configuration."""
        count = len(self._options)
        options = tuple(self._options[number] for number in configuration if number < count)
        return options, dict(self._variables[number - count] for number in configuration if number >= count)

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Ending:
        """Run the program with these settings."""
        options, variables = self.applied(configuration)
        words = tuple(word for option in options for word in option)

        def make() -> Ending:
            finished = self._target.run(self._content, more=words, variables={**self._always, **variables})
            return self._oracle.ending(finished)

        return make() if fresh else recalled(Ending, lambda: (self._content, words, variables), make)

    def judge(self, run: Ending) -> Judgement:
        """By comparison with the failure sought; the other way round for settings that prevent it."""
        if not self.prevents:
            return super().judge(run)
        if run.verdict is Outcome.PASS:
            return Judgement(Outcome.FAIL, f"prevented: {run.words}", "prevented", failed=True)
        outcome = Outcome.PASS if run.verdict is Outcome.FAIL else Outcome.UNRESOLVED
        return Judgement(outcome, run.words, run.signature)

    def settle(self, runs: Sequence[Ending]) -> None:
        """Choose the failure.

        Raises:
            DoesNotFailError: the command does not fail with all settings.
            DoesNotPassError: it fails with all of those that should prevent it.
        """
        if not self.prevents:
            super().settle(runs)
        elif all(run.verdict is not Outcome.PASS for run in runs):
            raise DoesNotPassError(
                f"With all {self.delta}s, the command does not pass: {runs[0].words}.",
                "Then they do not prevent the failure, at least not together: give fewer of them.",
            )

    def base_failed(self, judgement: Judgement) -> None:
        """Refuse settings that do not matter.

        Raises:
            DoesNotPassError: the command fails without any of them.
            DoesNotFailError: it passes without those that should prevent the failure.
        """
        if self.prevents:
            raise DoesNotFailError(
                f"Without any {self.delta}, the command does not fail: {judgement.words.removeprefix('prevented: ')}.",
                "Give a command that fails, and settings that it does not have yet.",
            )
        passed = sum(self.judge(self.run(EMPTY, fresh=True)).outcome is Outcome.PASS for _ in range(_MORE_RUNS))
        if passed:
            raise DoesNotPassError(
                f"Without any {self.delta}, the command fails in {1 + _MORE_RUNS - passed} of {1 + _MORE_RUNS} runs, "
                f"in the same way as with all: {judgement.words}.",
                "None of them is needed, but one may fix what is otherwise left to chance, as PYTHONHASHSEED does. Do "
                "not name that one: what is not named stays as it is.",
            )
        raise DoesNotPassError(
            f"The command fails in the same way without any {self.delta}: {judgement.words}.",
            "Then none of them is needed. To find one that prevents the failure, add `--prevents`.",
        )

    def words(self, delta: int) -> str:
        """The option, or the variable with its value."""
        if delta < len(self._options):
            return " ".join(self._options[delta])
        return "=".join(self._variables[delta - len(self._options)])


def isolate_settings(
    content: bytes,
    target: Target,
    *,
    options: Sequence[Option] = (),
    variables: Mapping[str, str] | None = None,
    prevents: bool = False,
    oracle: Oracle | None = None,
    algorithm: str = ALGORITHMS[0],
    jobs: int = 1,
    max_tests: int | None = None,
    time_budget_s: float | None = None,
    observer: Observer = NO_OBSERVER,
) -> Isolation[Ending]:
    """Find the options and environment variables that a failure needs, or that prevent it.

    Args:
        content: the input of the program.
        target: runs it.
        options: options to try, each with its values.
        variables: environment variables to try.
        prevents: look for those that prevent the failure.
        oracle: what counts as a failure.
        algorithm: one of :data:`~replay_dd.input.reduce.ALGORITHMS`.
        jobs: the number of runs at the same time.
        max_tests: stop with the best result so far after this many tests.
        time_budget_s: stop with the best result so far after this many seconds.
        observer: receives progress.

    Raises:
        DoesNotFailError, DoesNotPassError: the command does not fail or pass as it should with all or none of them.
        ProgramNotFoundError: there is no such program.
    """
    limited = target.time_limit_s is not None
    if not limited:
        target.time_limit_s = DEFAULT_TIME_LIMIT_S
    settings = Settings(
        *(target, oracle or Oracle(), content, options, variables or {}),
        prevents=prevents,
        algorithm=algorithm,
        fixed_limit=limited,
    )
    return isolate_cause(settings, jobs=jobs, max_tests=max_tests, time_limit_s=time_budget_s, observer=observer)

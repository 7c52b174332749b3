"""What all circumstances of one program have in common: which failure is looked for, and what its runs mean.

Rules of this module:

* FAIL means the same failure as that of the failing end; PASS, that the program ended as it should; anything else,
  another failure among them, is UNRESOLVED.
* The time limit of the search comes from the runs of the failing end, unless the failure is that it does not end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict

from replay_dd.circumstance import Circumstance, Judgement
from replay_dd.errors.program import DoesNotFailError
from replay_dd.experiment.ending import Ending, Oracle
from replay_dd.input.target import Target
from replay_dd.outcome import Outcome

TIME_LIMIT_FACTOR = 20
TIME_LIMIT_LEAST_S = 10.0
_FIRST_RUNS = 2


class Known(TypedDict, total=False):
    """The keyword arguments of :class:`ProgramRuns`."""

    fixed_limit: bool
    wanted: Ending | None
    passes: Ending | None


class ProgramRuns(Circumstance[Ending]):
    """What all circumstances of one program have in common: which failure is looked for, and what runs mean.

    Args:
        target: runs the program.
        oracle: says what counts as a failure.
        fixed_limit: keep the target's time limit.
        wanted: the failure sought; None to choose it from the first runs.
        passes: how the passing input ends; None if it has not been run.
    """

    flaky = True
    steady_error = 0.2

    def __init__(
        self,
        target: Target,
        oracle: Oracle,
        *,
        fixed_limit: bool = True,
        wanted: Ending | None = None,
        passes: Ending | None = None,
    ) -> None:
        self._target = target
        self._oracle = oracle
        self._fixed_limit = fixed_limit
        self._wanted = wanted
        self._passes = passes

    @property
    def wanted(self) -> Ending:
        """The failure sought."""
        assert self._wanted is not None, "settle was not called"
        return self._wanted

    def judge(self, run: Ending) -> Judgement:
        """By comparison with the failure sought."""
        failed = run.verdict is Outcome.FAIL
        if failed and (self._wanted is None or run.signature == self._wanted.signature):
            return Judgement(Outcome.FAIL, run.words, run.signature, failed=True)
        if self._oracle.pattern and self._passes is not None and run.signature == self._passes.signature:
            return Judgement(Outcome.PASS, run.words, run.signature)
        return Judgement(Outcome.UNRESOLVED if failed else run.verdict, run.words, run.signature, failed)

    def settle(self, runs: Sequence[Ending]) -> None:
        """Choose the most frequent failure, and the time limit.

        Raises:
            DoesNotFailError: no run fails.
        """
        failures = Counter(run.signature for run in runs if run.verdict is Outcome.FAIL)
        if not failures:
            if len(runs) > _FIRST_RUNS:
                raise self._no_failure(runs[0])
            return
        ((signature, _),) = failures.most_common(1)
        alike = [run for run in runs if run.signature == signature]
        # What the program says differently each time tells nothing, such as the name of a temporary file.
        message = alike[0].message if len({run.message for run in alike}) == 1 else ""
        self._wanted = replace(alike[0], message=message)
        if not self._fixed_limit and signature != "time-out":
            longest_s = max(run.seconds for run in runs)
            self._target.time_limit_s = max(TIME_LIMIT_FACTOR * longest_s, TIME_LIMIT_LEAST_S)

    def _no_failure(self, run: Ending) -> DoesNotFailError:
        if self._oracle.script:
            hint = "A script ends with status 0 for good, 125 if it cannot tell, and any other below 128 for bad."
        elif self._oracle.pattern:
            hint = "Look at what the command prints; a regular expression is matched against all of its output."
        else:
            hint = (
                "A failure is an exit status other than 0, a signal, or a run that reaches `--time-limit`. If it is "
                "something that the program prints, give that with `--grep REGEX`."
            )
        return DoesNotFailError(f"The command does not fail on {self._target.name}: {run.words}.", hint)


def jobs_for(jobs: int, target: Target, writes: Callable[[], bool], subject: str) -> tuple[int, tuple[str, ...]]:
    """How many runs may be made at the same time, and what is to be said of that.

    Args:
        jobs: how many the user wants.
        target: runs the program.
        writes: runs it, and tells whether it writes files in the working directory, so that runs disturb each other.
        subject: a noun for the program.
    """
    if jobs == 1 or target.fresh_copy or not writes():
        return jobs, ()
    said = f"The {subject} writes files in the working directory, so its runs were made one at a time"
    return 1, (f"{said}; with `--fresh-copy` several can be made at the same time.",)


def note_of_other_words(run: Ending | None, first: Ending) -> tuple[str, ...]:
    """Whether the program says something else at the end than with the whole input.

    Args:
        run: one that fails with what is left, if it was made.
        first: how the whole input fails.
    """
    if run is None or not run.message or not first.message or run.message == first.message:
        return ()
    return (
        "The failure is of the same kind, but the program said something else at first: "
        f"{first.words.rstrip('.')}. If that is another failure, give the text of the first one with `--grep`.",
    )

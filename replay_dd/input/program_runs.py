"""What all circumstances of one program have in common: which failure is looked for, and what its runs mean.

Rules of this module:

* FAIL means the same failure as that of the failing end: the same signature, and where that is only an exit status, a
  complaint in common if there are any. Where the program fails alike on nothing at all, what it says counts with its
  quoted text, or else the chain of calls that led to the failure, if that tells both apart. PASS means that the program
  ended as it should; anything else, another failure among them, is UNRESOLVED.
* The time limit of the search comes from the runs of the failing end, unless the failure is that it does not end. Then
  runs of the search may have to be longer than the limit that is given, so that their result surely reaches it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict

from replay_dd.circumstance import Circumstance, Goal, Judgement
from replay_dd.errors.program import DoesNotFailError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS
from replay_dd.experiment.ending import MATCH, TIME_OUT, Ending, Oracle, still_running
from replay_dd.experiment.hangs import function_in
from replay_dd.experiment.message_texts import quotes
from replay_dd.experiment.process import Finished
from replay_dd.input.target import Target, snapshot
from replay_dd.outcome import Outcome

TIME_LIMIT_FACTOR = 20
TIME_LIMIT_LEAST_S = 10.0
_NO_DETAILS = "", ""
_GREP = "give the text of the first one with `--grep`"


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
        self._details = _NO_DETAILS

    @property
    def wanted(self) -> Ending:
        """The failure sought."""
        assert self._wanted is not None, "settle was not called"
        return self._wanted

    @property
    def gradual(self) -> bool:
        """Whether it fails by taking too long."""
        return self._wanted is not None and self._wanted.signature == TIME_OUT

    def judge(self, run: Ending) -> Judgement:
        """By comparison with the failure sought."""
        failed = run.verdict is Outcome.FAIL
        if failed and (self._wanted is None or _is_same(run, self._wanted)):
            return Judgement(Outcome.FAIL, self._words(run), run.signature, failed=True)
        if self._oracle.pattern and self._passes is not None and run.signature == self._passes.signature:
            return Judgement(Outcome.PASS, run.words, run.signature)
        kind = (run.signature, *run.complaints[:1])
        return Judgement(Outcome.UNRESOLVED if failed else run.verdict, run.words, kind, failed)

    def _words(self, run: Ending) -> str:
        """How a run of the failure sought ended: what it complains of first may be something else."""
        limit_s = self._target.time_limit_s
        if run.signature == TIME_OUT and limit_s is not None:
            # The limit that the user knows: runs of the search have longer, and are not looked at.
            told = still_running(f"{limit_s:g}", run.place)
            at_first = "" if run.place or self._wanted is None else self._wanted.place
            return f"{told} (with the whole input in {at_first})" if at_first else told
        wanted = self._wanted
        if wanted is None or not wanted.complaints or set(run.complaints[:1]) <= set(wanted.complaints):
            return run.words
        return wanted.words

    def compare(self, one: Ending, other: Ending) -> str:
        """How the other run ended, unless it was like the first one."""
        return "" if one.is_like(other) else other.words

    def settle(self, runs: Sequence[Ending]) -> None:
        """Choose the most frequent failure, and the time limit.

        Raises:
            DoesNotFailError: no run fails.
        """
        failures = Counter(run.signature for run in runs if run.verdict is Outcome.FAIL)
        if not failures:
            if len(runs) >= INTERMITTENT_RUNS:
                raise self._no_failure(runs[0])
            return
        ((signature, _),) = failures.most_common(1)
        begins = self._wanted is None
        alike = [run for run in runs if run.signature == signature]
        # What the program says differently each time tells nothing, such as the name of a temporary file.
        message = alike[0].message if len({run.message for run in alike}) == 1 else ""
        self._details = alike[0].details if len({run.details for run in alike}) == 1 else _NO_DETAILS
        self._wanted = replace(alike[0], message=message, details=_NO_DETAILS)
        # What it complains of only in some runs does not tell failures apart.
        always = tuple(kind for kind in self._wanted.complaints if all(kind in run.complaints for run in alike))
        if always != self._wanted.complaints:
            self._wanted = replace(self._wanted, complaints=always)
        elif self._wanted.leads:
            self._wanted = replace(self._wanted, complaints=self._wanted.complaints[:1])
        if signature == TIME_OUT:
            if begins and self._fixed_limit and self.goal is Goal.SIMPLIFY:
                self.search_for_longer()
        elif not self._fixed_limit:
            longest_s = max(run.seconds for run in runs)
            self._target.time_limit_s = max(TIME_LIMIT_FACTOR * longest_s, TIME_LIMIT_LEAST_S)

    def search_for_longer(self) -> None:
        """The failure is to reach the time limit, which was given; called once, before the search."""

    def unlike_nothing(self, on_nothing: Ending, size: int) -> None:
        """Look for what tells the failure from that on nothing at all, if there is any of that and both are alike.

        Args:
            on_nothing: how the program ends on nothing.
            size: bytes of the input; what repeats most of them does not tell what is wrong with it.
        """
        if on_nothing.verdict is not Outcome.FAIL or on_nothing.signature != self.wanted.signature:
            return
        own = tuple(kind for kind in self.wanted.complaints if kind not in on_nothing.complaints)
        if own:
            self._wanted = replace(self.wanted, complaints=own)
            return
        for number, (detail, other) in enumerate(zip(self._details, on_nothing.details, strict=True)):
            if detail and detail != other and 2 * len(detail) < size:
                said, calls = _NO_DETAILS
                self._wanted = replace(self.wanted, details=(said, detail) if number else (detail, calls))
                return

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


def jobs_for(jobs: int, target: Target, run: Callable[[], Finished], subject: str) -> tuple[int, tuple[str, ...]]:
    """How many runs may write files in the working directory at the same time, and what is to be said of that.

    Args:
        jobs: how many the user wants.
        target: runs the program.
        run: runs it on its input.
        subject: a noun for the program.
    """
    if jobs == 1 or target.fresh_copy:
        return jobs, ()
    before = snapshot(target.directory)
    run()
    if snapshot(target.directory) != before:
        target.leaves_files = True
        said = f"The {subject} writes files in the working directory, so its runs were made one at a time"
        return 1, (f"{said}; with `--fresh-copy` several can be made at the same time.",)
    return jobs, ()


def _is_same(run: Ending, wanted: Ending) -> bool:
    """Whether a run shows the failure sought."""
    if run.signature != wanted.signature:
        return False
    told = run.complaints[:1] if wanted.leads else run.complaints
    if wanted.complaints and set(wanted.complaints).isdisjoint(told):
        return False
    return all(not one or one == other for one, other in zip(wanted.details, run.details, strict=True))


def note_of_details(wanted: Ending) -> tuple[str, ...]:
    """Whether more than usual counts, since the program fails alike on nothing at all.

    Args:
        wanted: the failure sought.
    """
    said, calls = wanted.details
    if not (said or calls):
        return ()
    counts = "what it says must be the same, with quoted text" if said else "the calls that lead there must be the same"
    return (f"The program fails in the same way on an empty input, so {counts}.",)


def note_of_other_words(run: Ending | None, first: Ending) -> tuple[str, ...]:
    """Whether the program says something else at the end than with the whole input.

    Args:
        run: one that fails with what is left, if it was made.
        first: how the whole input fails.
    """
    if run is None:
        return ()
    if first.complaints:
        same = first.complaints[0] in run.complaints
    else:
        same = not run.message or not first.message or run.message == first.message
    if same:
        return ()
    help_ = "let `--grep` match only the first one" if first.signature == MATCH else _GREP
    return (
        "The failure is of the same kind, but the program said something else at first: "
        f"{first.words.rstrip('.')}. If that is another failure, {help_}.",
    )


def other_quotes(run: Ending, first: Ending) -> str:
    """What was told of the program at first, if it now quotes something else, or hangs elsewhere; otherwise empty.

    Quoted text does not count as part of a failure, since it mostly repeats the input. So the value at
    fault may get lost. Nor does the place of a hang count, which may then be in another function.

    Args:
        run: one that fails with what is left.
        first: how the whole input fails.
    """
    if run.place and first.place and function_in(run.place) != function_in(first.place):
        return first.words
    at_first = first.said or first.words
    return "" if quotes(run.said or run.words) == quotes(at_first) else at_first

"""The changes between two versions of a program as a failure circumstance.

Rules of this module:

* FAIL means the failure of the new version; PASS, that the program ended as it should. What does not apply, is not
  built, or fails in another way is UNRESOLVED.
* Which failures are the same, :mod:`~replay_dd.changes.sameness` says.
* Each level is a search of its own, among the deltas that the level above left. It cuts only between groups; what it
  asks for is completed with single hunks of other groups that it needs.
* Mixtures with the same deltas share one run, whatever level they come from.
* A mixture that misses names is run with the changes that they belong to (:mod:`~replay_dd.changes.resolution`), except
  as evidence.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Hashable, Sequence

from replay_dd.changes.clues import LEAST_GROUPS, NO_CLUES, Clues, guesses, taking_away
from replay_dd.changes.difference import Difference
from replay_dd.changes.divergences import divergences
from replay_dd.changes.expansion import LEAST_HUNKS, additions, removals
from replay_dd.changes.file_change import Kind
from replay_dd.changes.levels import LEVELS, LINE, STATEMENT, groups, is_long, symbol_of
from replay_dd.changes.resolution import Resolution
from replay_dd.changes.sameness import Sameness, same_words, strictest, without_line_numbers
from replay_dd.changes.shown import text_of
from replay_dd.changes.suspects import blocks_in, suspects
from replay_dd.changes.workshop import NOT_BUILT, Trial, Workshop
from replay_dd.circumstance import Circumstance, Found, Goal, Judgement
from replay_dd.dd import DD, EMPTY, Algorithm, CheckedDDPlus, DDMin, Groups, Guess, GuessesFirst, IntervalSet
from replay_dd.errors.program import DoesNotFailError, NotReproducedError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS
from replay_dd.experiment.ending import Ending
from replay_dd.outcome import Outcome

_SHOWN = 60
_HOPEFUL_RUNS = INTERMITTENT_RUNS
_HOPEFUL_S = 60.0
"""How many runs, and seconds, a new version gets to fail at all."""
_PATIENCE = 10
"""After how many tests without progress a search goes on with smaller groups; names learnt count from there."""
_LAST_PATIENCE = 60
"""The same for the last level: enough to try each group alone, and all but each, if 29 are left."""
_MOST_SUSPECTS = 40
"""How many functions and classes are undone in the new version, one at a time."""
_MOST_BLOCKS = 100
"""How many statements in these are, each with what it heads."""


class CodeChanges(Circumstance[Ending]):
    """The deltas of one level, cut only between its groups, and what comes after it.

    Args:
        difference: the two versions.
        workshop: runs mixtures.
        levels: the levels still to be searched, this one first.
        deepest: the last one that was asked for, if this one goes below it.
        applied: deltas that are applied in every run.
        candidates: the other deltas to search.
        goal: whether to isolate a difference, or to find the smallest failing set.
        wanted: the failure sought; None to choose it from the first runs.
        same: what two failures must have in common to be the same.
        algorithm: ``dd`` or ``dd+``, to isolate.
        resolution: tries mixtures again that miss names; None to take them for unresolved.
        clues: what the failing version printed, if that was run on a level above.
        undoing: whether suspected functions are undone first; None if that was done on a level above.
    """

    name = "changes"
    subject = "version"
    flaky = True
    confirmed = False  # what the guilty change needs comes in groups; their lines are not tried one by one

    def __init__(
        self,
        difference: Difference,
        workshop: Workshop,
        levels: Sequence[str],
        *,
        deepest: str | None = None,
        applied: IntervalSet = EMPTY,
        candidates: IntervalSet | None = None,
        goal: Goal = Goal.ISOLATE,
        wanted: Ending | None = None,
        same: Sameness = same_words,
        algorithm: str = "dd",
        resolution: Resolution | None = None,
        clues: Clues | None = None,
        undoing: bool | None = False,
    ) -> None:
        self.difference = difference
        self.goal = goal
        self.algorithm = algorithm if goal is Goal.ISOLATE else "ddmin"
        self._workshop = workshop
        self._levels = tuple(levels)
        self._deepest = deepest or self._levels[-1]
        self._wanted = wanted
        self._same = same
        self._resolution = resolution
        self._clues = clues
        self._is_first = clues is None
        self._undoing = undoing
        self._as_it_is: IntervalSet | None = None  # files and functions in their new places, as they were
        self._isolating: GuessesFirst | None = None
        self._learnt = () if resolution is None else tuple(resolution.learnt)
        self.universe = applied | (difference.all if candidates is None else candidates)
        self.base = applied
        self.delta = "change" if levels[0] == LINE else f"changed {levels[0]}"
        group_of = functools.cache(functools.partial(LEVELS[levels[0]], difference))
        self._split = Groups(group_of, self._completed, self._reduced, self._mended)

    def needed_with(self, guilty: IntervalSet, failing: IntervalSet) -> CodeChanges:
        """The search for the smallest part of a failing mixture that still fails and has the guilty changes in it."""
        return CodeChanges(
            *(self.difference, self._workshop, tuple(LEVELS)[: tuple(LEVELS).index(self._deepest) + 1]),
            applied=guilty,
            candidates=failing - guilty,
            goal=Goal.SIMPLIFY,
            wanted=self._wanted,
            same=self._same,
            resolution=self._resolution,
        )

    def failing_near_base(self) -> IntervalSet:
        """The smallest of some parts around what is always applied that fails; everything if none of them does.

        What a guilty change needs is mostly near to it, or defines its names. A search among all that a failing mixture
        has besides would ask about much else first.
        """
        around = [self.base]
        for level in ("hunk", "function", "file"):
            parts = groups(self.difference, self.universe, level)
            around.append(IntervalSet.of([delta for part in parts if part & self.base for delta in part]) | self.base)
        for part in dict.fromkeys(self._completed(part, self.universe) for part in around):
            if part in (self.base, self.universe):
                continue
            run = self.run(part)
            realised = self.realised(part, run)
            if self.judge(run).outcome is Outcome.FAIL and self.base <= realised <= self.universe:
                return realised
        return self.universe

    @property
    def wanted(self) -> Ending:
        """The failure sought."""
        assert self._wanted is not None, "settle was not called"
        return self._wanted

    def run(self, configuration: IntervalSet, *, fresh: bool = False) -> Ending:
        """Build and run the mixture; unless this is evidence, perhaps another one in its place."""
        resolution = self._resolution
        if fresh or resolution is None or self._wanted is None or configuration in (self.universe, self.base):
            trial = self._workshop.trial(configuration, clean=fresh)
            if self._wanted is None and configuration == self.universe and trial.ending.verdict is Outcome.FAIL:
                self._clues = trial.clues
            return without_line_numbers(trial.ending)

        def outcome(trial: Trial) -> Outcome:
            return self.judge(without_line_numbers(trial.ending)).outcome

        if configuration == self._as_it_is:
            made = resolution.run_as_it_is(configuration, self.universe, self._workshop.trial, outcome)
            return without_line_numbers(made.ending)
        made = resolution.run(
            *(configuration, self.base, self.universe, self._workshop.trial, outcome, self._learnt),
            undoing=bool(self._undoing),
        )
        return without_line_numbers(made.ending)

    def own_algorithm(self, failing: IntervalSet) -> Algorithm:
        """The algorithm, with parts that are made of groups."""
        if self.goal is Goal.SIMPLIFY:
            return DDMin(failing, base=self.base, split=self._split)
        if self.algorithm == "dd+":
            return CheckedDDPlus(self.base, failing, split=self._split)
        # What is left of all but the last level is only to be narrowed.
        patience = _LAST_PATIENCE if self._levels == (self._deepest,) else _PATIENCE
        self._isolating = GuessesFirst(
            *(self.base, failing, self._suspicions(failing) if self._undoing else self._guesses(failing)),
            lambda passes, fails: DD(passes, fails, split=self._split, patience=patience),
            split=self._split,
        )
        return self._isolating

    def _guesses(self, failing: IntervalSet) -> Sequence[Guess]:
        """What is suspected from what the failing version printed, or only moves; nothing below the first level."""
        left, resolution = failing - self.base, self._resolution
        if self._clues is None or resolution is None or not self._is_first:
            return ()
        # A program whose files and functions are in their new places as they were does what the old one did.
        found: list[Guess] = []
        if moved := IntervalSet.of([delta for delta in left if self.difference.moves(delta)]):
            whole = IntervalSet.of([delta for delta in left if self.difference.line_change(delta) is None])
            self._as_it_is = self._mended(self.base | whole, self.base, failing)
            found = [Guess(whole, without=False, fitted=False), Guess(self._completed(moved, left), without=False)]
        hunks = len(groups(self.difference, left, "hunk"))
        if hunks < LEAST_GROUPS:
            return found
        if gone := taking_away(resolution.dependences, self._clues.names, left):
            found.insert(0, Guess(gone, without=False, fitted=False))
        told = guesses(resolution.dependences, self._clues, self._workshop.program_words, left)
        found += [Guess(deltas) for deltas in told]
        if hunks >= LEAST_HUNKS:
            breaks = self._workshop.breaks
            added, taken = additions(self.difference, left, breaks), removals(self.difference, left, breaks)
            found.append(Guess(self._completed(added, left), without=False))
            found.append(Guess(left - self._reduced(left - taken, left), alone=False))
        return found

    def _suspicions(self, failing: IntervalSet) -> Sequence[Guess]:
        """Suspected functions and classes, each to be undone as it is: what is close to the new version mostly runs."""
        diverged = divergences(self._workshop.calls(EMPTY), self._workshop.calls(self.difference.all))
        parts = groups(self.difference, failing - self.base, "function")
        found = suspects(self.difference, parts, diverged, self._clues or NO_CLUES)[:_MOST_SUSPECTS]
        blocks = itertools.islice(dict.fromkeys(blocks_in(self.difference, found)), _MOST_BLOCKS)
        return [Guess(part, alone=False, fitted=False) for part in dict.fromkeys((*found, *blocks))]

    def _completed(self, asked: IntervalSet, within: IntervalSet) -> IntervalSet:
        return asked if self._resolution is None else self._resolution.completed(asked, within, self._learnt)

    def _reduced(self, asked: IntervalSet, within: IntervalSet) -> IntervalSet:
        return asked if self._resolution is None else self._resolution.reduced(asked, within, self._learnt)

    def _mended(self, asked: IntervalSet, low: IntervalSet, high: IntervalSet) -> IntervalSet:
        return asked if self._resolution is None else self._resolution.mended(asked, low, high)

    def realised(self, configuration: IntervalSet, run: Ending) -> IntervalSet:
        """The mixture that was run in the place of this one."""
        resolved = None if self._resolution is None else self._resolution.resolved(configuration)
        return configuration if resolved is None else resolved.deltas

    def shown(self, configuration: IntervalSet) -> IntervalSet:
        """The first delta of each group."""
        return IntervalSet.of([group.first for group in self._split.groups(configuration)])

    def tested(self, configuration: IntervalSet, run: Ending) -> None:
        """Learn which names were missing."""
        if self._resolution is not None:
            self._resolution.learn(configuration)

    def judge(self, run: Ending) -> Judgement:
        """Compare how it ended with the failure sought."""
        failed = run.verdict is Outcome.FAIL
        same = failed and self._signature(run) == self._signature(self.wanted)
        outcome = Outcome.FAIL if same else Outcome.UNRESOLVED if failed else run.verdict
        return Judgement(outcome, run.words, self._signature(run), failed)

    def compare(self, one: Ending, other: Ending) -> str:
        """How the other run ended, unless it was like the first one."""
        return "" if same_words(one) == same_words(other) else other.words

    def settle(self, runs: Sequence[Ending]) -> None:
        """Choose the failure of the first run that fails.

        Without any, it waits for more runs, which the baseline then makes, unless that would take long.

        Raises:
            DoesNotFailError: the new version does not fail, or is not built.
            NotReproducedError: it fails in different ways.
        """
        failures = [run for run in runs if run.verdict is Outcome.FAIL]
        if not failures:
            if more_runs_of_new(runs):
                return
            raise no_failure_in_new(runs)
        other = next((run for run in failures if run.signature != failures[0].signature), None)
        if other is not None:
            raise NotReproducedError(
                f"The new version failed in two ways: {failures[0].words}; and {other.words}.",
                "Say which one is meant with `--grep`.",
            )
        self._wanted = failures[0]
        self._same = strictest(failures)

    def _signature(self, run: Ending) -> Hashable:
        return self._same(run)

    def words(self, delta: int) -> str:
        """Describe the group that begins with a delta: where it is, and what it changes."""
        left = self._split.groups(self.universe - self.base)
        members = next((group for group in left if delta in group), IntervalSet.of([delta]))
        first = delta
        file = self.difference.files[self.difference.file_of(first)]
        kind = self.difference.kind(first)
        if self._levels[0] == "folder":
            return f"{file.path.rpartition('/')[0] or '.'}/ ({_counted(members.count)})"
        if kind is not Kind.LINE:
            described = self.difference.words(first)
            return described if members.count == 1 else f"{described} ({_counted(members.count)})"
        change = self.difference.line_change(first)
        assert change is not None
        if self._levels[0] == "file":
            return f"{file.path} ({_counted(members.count)})"
        symbol = symbol_of(self.difference, first)
        place = f"{file.path}:{change.new + 1}{f' in {symbol}' if symbol else ''}"
        if members.count > 1:
            return f"{place} ({_counted(members.count)})"
        removed, added = file.before[change.old : change.old_stop], file.after[change.new : change.new_stop]
        told = [f"{sign} {_shown(line)}" for sign, lines in (("-", removed), ("+", added)) for line in lines]
        return f"{place}: {' '.join(told)}"

    @property
    def gave_up(self) -> bool:
        """Whether the search ended since too many tests told nothing: the answer may be more than is needed."""
        then = None if self._isolating is None else self._isolating.then
        return isinstance(then, DD) and then.gave_up

    @property
    def undivided(self) -> bool:
        """Whether the answer may be more than is needed, of what was asked for: lines of one statement are not."""
        return self.gave_up and [*LEVELS].index(self._levels[0]) <= [*LEVELS].index(self._deepest)

    def refine(self, passing: Found[Ending], failing: Found[Ending]) -> CodeChanges | None:
        """The next level with more groups than are left of this one."""
        applied = passing.configuration
        left = failing.configuration - applied
        before = self._split.most_parts(left)
        for number in range(1, len(self._levels)):
            finer = len(groups(self.difference, left, self._levels[number])) > before
            if finer or (self.gave_up and number == len(self._levels) - 1):
                return self._below(self._levels[number:], applied, left)
        if self._levels[-1] == STATEMENT and self.goal is Goal.ISOLATE and is_long(self.difference, left):
            return self._below((LINE,), applied, left)
        return None

    def _below(self, levels: Sequence[str], applied: IntervalSet, left: IntervalSet) -> CodeChanges:
        """The search of finer levels, among what is left of this one."""
        return CodeChanges(
            *(self.difference, self._workshop, levels),
            deepest=self._deepest,
            applied=applied,
            candidates=left,
            goal=self.goal,
            wanted=self._wanted,
            same=self._same,
            algorithm=self.algorithm if self.goal is Goal.ISOLATE else "dd",
            resolution=self._resolution,
            clues=self._clues or NO_CLUES,
            undoing=None if self._undoing in (None, True) else self.gave_up,
        )


def _counted(count: int) -> str:
    return f"{count:,} {'change' if count == 1 else 'changes'}"


def _shown(line: bytes) -> str:
    text = text_of(line.strip()).expandtabs()
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def more_runs_of_new(runs: Sequence[Ending]) -> int:
    """How many more runs of the new version are worth a failure that shows only sometimes; 0 once it has shown."""
    built = all(run.signature != NOT_BUILT for run in runs)
    hopeful = built and all(run.verdict is not Outcome.FAIL for run in runs)
    return max(_HOPEFUL_RUNS - len(runs), 0) if hopeful and sum(run.seconds for run in runs) < _HOPEFUL_S else 0


def no_failure_in_new(runs: Sequence[Ending]) -> DoesNotFailError:
    """What to tell of a new version that does not fail, or is not built."""
    run = runs[0]
    hint = (
        "The command must fail there: by its exit status, a signal, `--grep`, under a schedule (`--runs`), or as "
        "`--script` says. If it fails only sometimes, let the command repeat it until it does."
    )
    if run.signature == NOT_BUILT:
        hint = "`--build` must succeed in both versions: run it in a copy of the new one to see why it does not."
    times = f" in {len(runs)} runs" if len(runs) > 1 else ""
    return DoesNotFailError(f"The new version does not fail{times}: {run.words.rstrip('.')}.", hint)

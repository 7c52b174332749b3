"""The failure resolution loop: a mixture that misses names is tried again with the changes that they belong to.

Rules of this module:

* What is run in the place of a mixture is told to the search, which goes on from that: an answer rests on mixtures as
  they were run, never on one that was only asked for.
* A mixture is completed first, as far as names tell what it needs; then by what the errors of its run miss. If that
  leads to all changes, it is run as it was asked for; where suspected functions are undone, without what takes these
  names away.
* Where an error misses no name that a change defines, the rest of the function is applied that it was raised in: half
  of its changes may contradict the other half, or others.
* Where a file does not parse in a mixture, what is near is applied whole (:mod:`~replay_dd.changes.mending`).
* Where files and functions are in their new places as they were, names tell too much: a new file mentions nearly all
  that is new, and needs little of it to be imported. There, only what errors miss is added.
* What is added are single hunks and functions, however large the groups are that are searched: otherwise the missing
  name would bring a whole folder.
* The mixture that is run depends on the one asked for and on what earlier levels learnt, not on other runs: the answer
  does not depend on the number of workers.

Source: ESEC/FSE 1999, section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from replay_dd.changes.dependences import MOST_UNITS, Dependences
from replay_dd.changes.difference import Difference
from replay_dd.changes.levels import symbol_of
from replay_dd.changes.mending import Breaks, Mending
from replay_dd.changes.names import Names
from replay_dd.changes.workshop import Trial
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.outcome import Outcome

_MOST_ROUNDS = 6
_MOST_ROUNDS_AS_IT_IS = 40
_MOST_BREAKS = 20


@dataclass(frozen=True, slots=True)
class Resolved:
    """What was run in the place of a mixture.

    Attributes:
        deltas: its deltas.
        names: the names that were missing.
    """

    deltas: IntervalSet
    names: tuple[str, ...]


class Resolution:
    """Tries mixtures again that miss names, and keeps what was run in their place.

    Args:
        difference: the two versions.
        breaks: tells where files of a mixture do not parse, though they do in both versions.

    Attributes:
        rounds: how many more runs that took.
        dependences: which changes need which others.
        learnt: the names that were missing in the tests so far, as the search committed them.
    """

    def __init__(self, difference: Difference, breaks: Breaks = lambda deltas: ()) -> None:
        self._difference = difference
        self._mending = Mending(difference, breaks)
        self.rounds = 0
        self.learnt: dict[str, None] = {}
        self._names = Names(difference)
        self.dependences = Dependences(difference, self._names)
        self._resolved: dict[IntervalSet, Resolved] = {}

    def completed(self, asked: IntervalSet, within: IntervalSet, learnt: Sequence[str]) -> IntervalSet:
        """A mixture with what it needs from another one, as far as names and syntax tell that."""
        found = self.dependences.closed(asked, within, learnt)
        for _ in range(_MOST_BREAKS):
            more = self._mending.near_breaks(found, within - found)
            if not more:
                break
            found = self.dependences.closed(found | more, within, learnt)
        return found

    def reduced(self, asked: IntervalSet, within: IntervalSet, learnt: Sequence[str]) -> IntervalSet:
        """A mixture without what needs more of another one, as far as names and syntax tell that."""
        found = self.dependences.reduced(asked, within, learnt)
        for _ in range(_MOST_BREAKS):
            less = self._mending.near_breaks(found, found)
            if not less:
                break
            found = self.dependences.reduced(found - less, within, learnt)
        return found

    def mended(self, asked: IntervalSet, low: IntervalSet, high: IntervalSet) -> IntervalSet:
        """The nearest mixture between two others that parses, as far as that is found without a run."""
        return self._mending.nearest(asked, low, high)

    def resolved(self, deltas: IntervalSet) -> Resolved | None:
        """What was run in the place of a mixture; None if that was run itself."""
        return self._resolved.get(deltas)

    def learn(self, deltas: IntervalSet) -> None:
        """Learn the names that a mixture missed."""
        resolved = self._resolved.get(deltas)
        if resolved is not None:
            self.learnt.update(dict.fromkeys(resolved.names))

    def run(
        self,
        deltas: IntervalSet,
        base: IntervalSet,
        all_: IntervalSet,
        trial: Callable[[IntervalSet], Trial],
        outcome: Callable[[Trial], Outcome],
        learnt: Sequence[str],
        *,
        undoing: bool = False,
    ) -> Trial:
        """Run a mixture, or one that misses no names in its place.

        Args:
            deltas: the mixture.
            base: the deltas of the passing end.
            all_: the deltas of the failing end.
            trial: runs a mixture.
            outcome: judges a run.
            learnt: names whose changes are applied together.
            undoing: whether what takes the names away may be left out.
        """
        names: dict[str, None] = {}
        applied, made = deltas, trial(deltas)
        unresolved = made
        for _ in range(_MOST_ROUNDS):
            if outcome(made) is not Outcome.UNRESOLVED:
                break
            more = self._wanted(applied, all_, made) or self._rest_of(made.place, all_) - applied
            more = self.completed(applied | more, all_, learnt) if more else EMPTY
            if more == all_ and undoing:
                return self._without_removals(deltas, base, unresolved, trial, outcome)
            if not more or more == all_:
                break
            names.update(dict.fromkeys(made.missing))
            applied = more
            self.rounds += 1
            made = trial(applied)
        if outcome(made) is Outcome.UNRESOLVED:
            return unresolved
        self._note(deltas, applied, names)
        return made

    def run_as_it_is(
        self,
        deltas: IntervalSet,
        all_: IntervalSet,
        trial: Callable[[IntervalSet], Trial],
        outcome: Callable[[Trial], Outcome],
    ) -> Trial:
        """Run a mixture, or one in its place that has, besides, only what errors miss.

        Args:
            deltas: the mixture.
            all_: the deltas of the failing end.
            trial: runs a mixture.
            outcome: judges a run.
        """
        names: dict[str, None] = {}
        applied, made = deltas, trial(deltas)
        unresolved = made
        for _ in range(_MOST_ROUNDS_AS_IT_IS):
            if outcome(made) is not Outcome.UNRESOLVED:
                self._note(deltas, applied, names)
                return made
            more = self._wanted(applied, all_, made) or self._rest_of(made.place, all_) - applied
            more = self.mended(applied | more, applied, all_)
            if more in (applied, all_):
                break
            names.update(dict.fromkeys(made.missing))
            applied = more
            self.rounds += 1
            made = trial(applied)
        return unresolved

    def _without_removals(
        self,
        deltas: IntervalSet,
        base: IntervalSet,
        unresolved: Trial,
        trial: Callable[[IntervalSet], Trial],
        outcome: Callable[[Trial], Outcome],
    ) -> Trial:
        """Run a mixture without the changes that take away the names which it misses."""
        applied, made = deltas, unresolved
        for _ in range(_MOST_ROUNDS):
            gone = EMPTY
            for name in made.missing:
                gone = gone | self._removals(name, applied)
            less = self.mended(applied - (gone - base), base, applied)
            if less in (applied, base):
                break
            applied = less
            self.rounds += 1
            made = trial(applied)
            if outcome(made) is not Outcome.UNRESOLVED:
                self._note(deltas, applied, ())
                return made
        return unresolved

    def _removals(self, name: str, applied: IntervalSet) -> IntervalSet:
        """What takes a name away, among what is applied; of a class, all that is in it. Nothing if that is too much."""
        found = (self._names.undefining(name) | self._names.unimporting(name)) & applied
        units = self.dependences.units(found)
        if len(units) > MOST_UNITS:
            return EMPTY
        inside: set[int] = set()
        for delta in found:
            symbol, number = symbol_of(self._difference, delta), self._difference.file_of(delta)
            if symbol.rpartition(".")[2] == name:
                others = self._difference.deltas_of(number) & applied
                inside.update(one for one in others if symbol_of(self._difference, one).startswith(f"{symbol}."))
        return IntervalSet.of(sorted(inside.union(*units)))

    def _note(self, asked: IntervalSet, applied: IntervalSet, names: Iterable[str]) -> None:
        if applied != asked:
            self._resolved[asked] = Resolved(applied, tuple(names))

    def _wanted(self, applied: IntervalSet, all_: IntervalSet, made: Trial) -> IntervalSet:
        """What to add for missing names: the changes that define them, or what else has to do with them.

        Of a name that many changes define, such as an import in each file, those in the file of the error count.
        """
        here = EMPTY if made.place is None else self._difference.deltas_at([made.place[0]])
        sources = (self._names.defining, self._names.undefining, self._names.importing, self._listing)
        for changes in (*sources, self._names.mentioning):
            found = EMPTY
            for name in made.missing:
                units = [unit for unit in self.dependences.units(changes(name)) if (unit & all_) - applied]
                if len(units) > MOST_UNITS:
                    units = [unit for unit in units if unit & here]
                if len(units) <= MOST_UNITS:
                    for unit in units:
                        found = found | ((unit & all_) - applied)
            if found:
                return found
        return EMPTY

    def _rest_of(self, place: tuple[str, str] | None, all_: IntervalSet) -> IntervalSet:
        """All changes of a function; none of a function that is too large."""
        path, symbol = place or ("", "")
        if not symbol:
            return EMPTY
        deltas = self._difference.deltas_at([path]) & all_
        found = [delta for delta in deltas if symbol_of(self._difference, delta) == symbol]
        return self.dependences.unit(found[0]) & all_ if found else EMPTY

    def _listing(self, name: str) -> IntervalSet:
        return self.dependences.built_with(self._names.defining(name))

"""The failure resolution loop: a mixture that misses names is tried again with the changes that they belong to.

Rules of this module:

* What is run in the place of a mixture is told to the search, which goes on from that: an answer rests on mixtures as
  they were run, never on one that was only asked for.
* The mixture that is run depends on the one asked for and on what earlier levels learnt, not on other runs: the answer
  does not depend on the number of workers.
* Dependences are learnt from errors: where a name was missing, the changes that use it need those that define it. From
  the next level on, those are applied together at once.

Source: ESEC/FSE 1999, section 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from replay_dd.changes.difference import Difference
from replay_dd.changes.names import Names
from replay_dd.changes.workshop import Trial
from replay_dd.dd import EMPTY, IntervalSet
from replay_dd.outcome import Outcome

_MOST_ROUNDS = 6
_MOST_KNOWN = 64  # configurations whose deltas are kept
_MOST_GROUPS = 12  # that a name may add; one that is all over the changes tells nothing


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

    Attributes:
        rounds: how many more runs that took.
        learnt: the names that were missing in the tests so far, as the search committed them.
    """

    def __init__(self, difference: Difference) -> None:
        self.rounds = 0
        self.learnt: dict[str, None] = {}
        self._names = Names(difference)
        self._resolved: dict[IntervalSet, Resolved] = {}

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
        groups: Groups,
        configuration: IntervalSet,
        trial: Callable[[IntervalSet], Trial],
        outcome: Callable[[Trial], Outcome],
        learnt: Sequence[str],
    ) -> Trial:
        """Run a mixture, or one that misses no names in its place.

        Args:
            groups: the groups of this level.
            configuration: the groups to apply.
            trial: runs a mixture.
            outcome: judges a run.
            learnt: names whose changes are applied together.
        """
        applied = self._closed(groups, configuration, learnt)
        if applied == groups.all:
            applied = configuration
        names: dict[str, None] = {}
        first, made = applied, trial(groups.deltas(applied))
        unresolved = made
        for _ in range(_MOST_ROUNDS):
            if outcome(made) is not Outcome.UNRESOLVED:
                self._note(groups, configuration, applied, names)
                return made
            more = self._wanted(groups, applied, made.missing)
            if not more or applied | more == groups.all:
                break
            names.update(dict.fromkeys(made.missing))
            applied = applied | more
            self.rounds += 1
            made = trial(groups.deltas(applied))
        self._note(groups, configuration, first, {})
        return unresolved

    def _note(self, groups: Groups, asked: IntervalSet, applied: IntervalSet, names: Iterable[str]) -> None:
        if applied != asked:
            self._resolved[groups.deltas(asked)] = Resolved(groups.deltas(applied), tuple(names))

    def _wanted(self, groups: Groups, applied: IntervalSet, names: Sequence[str]) -> IntervalSet:
        """The groups to add for missing names: those that define them, otherwise those that mention them."""
        for changes in (self._names.defining, self._names.mentioning):
            found = EMPTY
            for name in names:
                more = groups.holding(changes(name)) - applied
                if more.count <= _MOST_GROUPS:
                    found = found | more
            if found:
                return found
        return EMPTY

    def _closed(self, groups: Groups, configuration: IntervalSet, learnt: Sequence[str]) -> IntervalSet:
        """A configuration with the definitions of those learnt names that it uses."""
        applied = configuration
        for _ in range(_MOST_ROUNDS):
            more = EMPTY
            for name in learnt:
                defining = groups.holding(self._names.defining(name))
                if 0 < defining.count <= _MOST_GROUPS and groups.holding(self._names.adding(name)) & applied:
                    more = more | (defining - applied)
            if not more:
                return applied
            applied = applied | more
        return applied


class Groups:
    """The groups of a level.

    Args:
        members: their deltas.
        always: deltas that are applied in every mixture.
    """

    def __init__(self, members: Sequence[IntervalSet], always: IntervalSet) -> None:
        self.all = IntervalSet.range(0, len(members))
        self._members = members
        self._always = always
        self._known: dict[IntervalSet, IntervalSet] = {}
        self._of = {delta: number for number, deltas in enumerate(members) for delta in deltas}

    def deltas(self, configuration: IntervalSet) -> IntervalSet:
        """The deltas of some groups, with those that are always applied."""
        known = self._known.get(configuration)
        if known is not None:
            return known
        members = (interval for number in configuration for interval in self._members[number].intervals)
        found = self._always | IntervalSet.from_intervals(members)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[configuration] = found
        return found

    def holding(self, deltas: IntervalSet) -> IntervalSet:
        """The groups that hold any of these deltas."""
        return IntervalSet.of({self._of[delta] for delta in deltas if delta in self._of})

    def made_of(self, deltas: IntervalSet) -> IntervalSet | None:
        """The groups that are exactly these deltas; None if there are none such."""
        found = self.holding(deltas - self._always)
        return found if self.deltas(found) == deltas else None

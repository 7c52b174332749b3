"""The difference of two sessions as deltas, and the actions of a configuration.

Rules of this module:

* A delta is one group of actions (:func:`~replay_dd.events.wellformed.groups_of`): either one that only the failing
  session has, which is added, or one that only the passing session has, which is left out.
* Applying no delta gives the passing session, applying all the failing one. Without a passing session, every action of
  the failing one is added to nothing.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from replay_dd.dd import IntervalSet
from replay_dd.events.model import Action, ActionKind, Session
from replay_dd.events.result import ComparedAction
from replay_dd.events.wellformed import groups_of

LONG_PAUSE_MS = 2000
# Within what a person hits the same button twice.
SAME_PLACE_PX = 8


@dataclass(frozen=True)
class _Step:
    """An action of the merged sessions: always there (delta None), added by its delta, or left out by it.

    Its place is that in the failing session or, if it is left out, in the passing one.
    """

    action: Action
    delta: int | None
    added: bool
    place: int


@dataclass(frozen=True)
class SessionDifference:
    """What a failing session has and a passing one lacks, and vice versa.

    Attributes:
        count: how many deltas there are.
    """

    steps: tuple[_Step, ...]
    count: int

    @property
    def all(self) -> IntervalSet:
        """All deltas."""
        return IntervalSet.range(0, self.count)

    def actions(self, configuration: IntervalSet) -> tuple[Action, ...]:
        """The actions with these deltas applied."""
        return tuple(step.action for step in self._kept(configuration))

    def places(self, configuration: IntervalSet) -> tuple[int, ...]:
        """The numbers of the actions of the failing session that are played, from 0."""
        return tuple(step.place for step in self._kept(configuration) if step.added)

    def compared(self, passing: IntervalSet, failing: IntervalSet) -> tuple[ComparedAction, ...]:
        """The actions of two configurations, side by side."""
        with_passing, with_failing = set(passing), set(failing)
        return tuple(
            ComparedAction(step.action, step.place, in_passing, in_failing)
            for step in self.steps
            if (in_passing := _is_kept(step, with_passing)) | (in_failing := _is_kept(step, with_failing))
        )

    def played(self, configuration: IntervalSet, length: int) -> IntervalSet:
        """The deltas that took effect when a run of this configuration ended after ``length`` actions.

        Deltas that leave something out stay applied.
        """
        played = self._kept(configuration)[:length]
        reached = {step.delta for step in played if step.delta is not None}
        removals = {step.delta for step in self.steps if step.delta is not None and not step.added}
        return configuration & IntervalSet.of(sorted(reached | removals))

    def alike(self, one: int, other: int) -> bool:
        """Whether two deltas do the same: press the same keys, or click at the same place of the same window."""
        first, second = (self.actions(IntervalSet.of([delta])) for delta in (one, other))
        return len(first) == len(second) and all(map(_do_the_same, first, second))

    @property
    def cuts(self) -> tuple[int, ...]:
        """Deltas at which something new begins: a dialog is opened, or the person made a pause."""
        places = natural_cuts([step.action for step in self.steps])
        return tuple(sorted({delta for place in places if (delta := self.steps[place].delta) is not None}))

    def _kept(self, configuration: IntervalSet) -> list[_Step]:
        applied = set(configuration)
        return [step for step in self.steps if _is_kept(step, applied)]


def _do_the_same(one: Action, other: Action) -> bool:
    if (one.kind, one.window, one.text, one.button) != (other.kind, other.window, other.text, other.button):
        return False
    ways = zip(one.start or (0, 0), other.start or (0, 0), strict=True)
    return one.kind is not ActionKind.MOTION and all(abs(here - there) <= SAME_PLACE_PX for here, there in ways)


def _is_kept(step: _Step, applied: set[int]) -> bool:
    return step.delta is None or (step.delta in applied) == step.added


def natural_cuts(actions: Sequence[Action]) -> list[int]:
    """The numbers of the actions at which something new begins.

    That is where another window than the main one comes into play (beginning with the action that opened it), where it
    is left, and after long pauses.
    """
    used = [action.window for action in actions]
    main = max(set(used), key=lambda window: (used.count(window), window is not None, -(window or 0)), default=None)
    cuts = []
    for number, (previous, action) in enumerate(itertools.pairwise(actions), 1):
        pause_ms = action.time_ms - previous.time_ms - previous.duration_ms
        if previous.window == main != action.window:
            cuts.append(number - 1)
        elif previous.window != main == action.window or pause_ms > LONG_PAUSE_MS:
            cuts.append(number)
    return [cut for cut in cuts if cut > 0]


def with_shared_windows(failing: Session, passing: Session) -> tuple[Session, Session]:
    """Make both sessions refer to one list of windows, so that a mixture of them can be written.

    The passing one must contain actions, not raw events.
    """
    first = len(failing.windows)
    windows = (
        *failing.windows,
        *(replace(window, number=number) for number, window in enumerate(passing.windows, first)),
    )
    actions = tuple(
        action if action.window is None else replace(action, window=action.window + first) for action in passing.actions
    )
    return replace(failing, windows=windows), replace(passing, windows=windows, actions=actions)


def difference_of(failing: Sequence[Action], passing: Sequence[Action] = ()) -> SessionDifference:
    """Align two sequences of actions by their inputs, and number what differs.

    Args:
        failing: the actions of the failing session.
        passing: those of the passing one; none to simplify the failing one.
    """
    steps: list[_Step] = []
    matcher = difflib.SequenceMatcher(None, [item.inputs for item in passing], [item.inputs for item in failing], False)
    of_failing = {number: group for group, numbers in enumerate(groups_of(failing)) for number in numbers}
    of_passing = {number: group for group, numbers in enumerate(groups_of(passing)) for number in numbers}
    numbers: dict[tuple[bool, int], int] = {}

    def delta_of(added: bool, group: int) -> int:
        return numbers.setdefault((added, group), len(numbers))

    for tag, passing_from, passing_to, failing_from, failing_to in matcher.get_opcodes():
        if tag == "equal":
            steps += [_Step(failing[number], None, True, number) for number in range(failing_from, failing_to)]
            continue
        steps += [
            _Step(passing[number], delta_of(False, of_passing[number]), False, number)
            for number in range(passing_from, passing_to)
        ]
        steps += [
            _Step(failing[number], delta_of(True, of_failing[number]), True, number)
            for number in range(failing_from, failing_to)
        ]
    return SessionDifference(tuple(steps), len(numbers))

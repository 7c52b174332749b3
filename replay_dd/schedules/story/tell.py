"""Tells what happened, from a conflict: steps in order, with places, values and locks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.asked_of_loop import help_of_asked_act
from replay_dd.schedules.story.came_back import help_of_came_back
from replay_dd.schedules.story.class_held import held_by_class_in_words, help_of_class_held
from replay_dd.schedules.story.closed_loops import help_of_closed_loop
from replay_dd.schedules.story.conflict import Conflict, expired_in, one_thing, used_unready
from replay_dd.schedules.story.cross_check import help_of_cross_check
from replay_dd.schedules.story.dropped_lock import help_of_dropped_lock
from replay_dd.schedules.story.early_signal import help_of_early_signal
from replay_dd.schedules.story.early_zero import help_of_early_zero
from replay_dd.schedules.story.edges import hands_over
from replay_dd.schedules.story.left_over import help_of_left_over
from replay_dd.schedules.story.locks import locks_in_words
from replay_dd.schedules.story.look_at_queue import help_of_look_at_queue
from replay_dd.schedules.story.loop_over_copy import help_of_loop
from replay_dd.schedules.story.missed_state import help_of_missed_state
from replay_dd.schedules.story.order import is_kept, passing_order
from replay_dd.schedules.story.outside_loop import help_of_call_outside
from replay_dd.schedules.story.own_change import help_of_own_change
from replay_dd.schedules.story.own_value import own_value_in_words
from replay_dd.schedules.story.parts import help_of_parts
from replay_dd.schedules.story.passes import IN_THIS_ORDER, passes_in_words
from replay_dd.schedules.story.permits import help_of_extra_permit
from replay_dd.schedules.story.publication import help_of_publication
from replay_dd.schedules.story.same_file import help_of_same_file
from replay_dd.schedules.story.second_look import help_of_second_look
from replay_dd.schedules.story.sentences import summary_of
from replay_dd.schedules.story.shared_context import help_of_shared_context
from replay_dd.schedules.story.signal_for_all import help_of_signal_for_all
from replay_dd.schedules.story.stop_flag import help_of_stop_flag
from replay_dd.schedules.story.story import Step, Story, Thing, Turn, called_at, path_of
from replay_dd.schedules.story.timers import help_of_cancelled_timer, help_of_late_cancel
from replay_dd.schedules.story.words import Letters, described, listed

_MOST_STEPS = 8  # of one stretch
_MOST_PASSING = 8
_EMPTIES_FILE = re.compile(r"^open\(.*'w[bt+]*'")


def tell_race(
    conflict: Conflict,
    failing: Observation,
    passing: Observation,
    ending: Ending,
    proved: Sequence[Access] = (),
) -> Story | None:
    """The story of a conflict; None if the observation shows none.

    Args:
        conflict: what the threads did in the failing run.
        failing: all that the failing run accessed.
        passing: all that the passing run accessed.
        ending: how the failing run ended.
        proved: the accesses whose order is proved to matter.
    """
    kind = kinds.kind_of(conflict, ending)
    if not kind or (conflict.left is None and conflict.right is None):
        return None
    passes = passes_in_words(
        *(kind, conflict, passing_order(conflict, failing, passing)),
        lambda first, then: is_kept(first, then, failing, passing),
    )
    story = _Teller(conflict, failing, passing, ending, proved).tell(kind, passes)
    if passes == IN_THIS_ORDER and not story.passing:
        story = story._replace(passes="")
    waits = tuple(f"thread {waiter.thread} {waiter.explanation}" for waiter in ending.deadlock)
    return story._replace(waits=waits)


@dataclass
class _Teller:
    """Collects the parts of one story."""

    conflict: Conflict
    failing: Observation
    passing: Observation
    ending: Ending
    proved: Sequence[Access] = ()
    letters: Letters = field(default_factory=Letters)
    marks: int = 0
    shared_names: frozenset[str] = frozenset()

    def tell(self, kind: str, words_for_pass: str) -> Story:
        conflict = self.conflict
        edges = conflict.edges
        own_before, stretch, own_after = self._relevant(kind)
        self.shared_names = _of_several([*own_before, *stretch, *own_after])
        turns = []
        if own_before:
            turns.append(self._turn(conflict.thread, own_before))
        for run in _by_thread(stretch):
            turns.append(self._turn(run[0].thread, run))
        if own_after:
            turns.append(self._turn(conflict.thread, own_after))
        turns = self._joined(turns, bool(own_before))
        accesses = [edge.access for edge in edges]
        unready = used_unready(conflict)
        if unready is not None:
            accesses.append(unready)
        if len(accesses) == 2 and one_thing(*accesses):  # of an item and its container, name the container
            accesses = [next((one for one in accesses if one.thing[0] == "whole"), accesses[1])]
        names = [self._name(access) for access in accesses]
        things = {
            name: Thing(name, described(access) + held_by_class_in_words(access, self.failing))
            for name, access in zip(names, accesses, strict=True)
        }
        return Story(
            kind=kind,
            things=tuple(things.values()),
            summary=summary_of(kind, conflict, self.proved) + _inside_package([*accesses, *stretch]),
            turns=tuple(turns),
            passes=words_for_pass,
            passing=tuple(self._passing(own_before + stretch + (accesses if conflict.never else own_after))),
            locks=tuple(locks_in_words(self.failing, self.passing, own_before + stretch + own_after)),
            inferred=tuple(inferred_from(conflict, self.failing)),
            help=self._help(kind, edges[0].access) or help_of_own_change(self.failing, self.ending),
        )

    def _help(self, kind: str, access: Access) -> str:
        if kind == kinds.DROPPED_LOCK:
            return help_of_dropped_lock(self.conflict, self.failing)
        if kind == kinds.EXTRA_PERMIT:
            return help_of_extra_permit(self.conflict)
        if kind == kinds.SHARED_CONTEXT:
            return help_of_shared_context(self.conflict)
        if kind == kinds.OUTSIDE_LOOP:
            return help_of_call_outside(self.conflict)
        if kind == kinds.LATE_CANCEL:
            return help_of_late_cancel(self.conflict)
        if kind == kinds.MISSED_STATE:
            return help_of_missed_state(self.conflict)
        if kind == kinds.LEFT_OVER:
            return help_of_left_over(access)
        if kind == kinds.ABA:
            return help_of_came_back(self.conflict, self.failing)
        too_soon = help_of_second_look(kind, self.conflict, self.failing) or help_of_early_signal(
            kind, self.conflict, self.failing
        )
        too_soon = too_soon or help_of_cross_check(kind, self.conflict, self.failing)
        too_soon = too_soon or help_of_early_zero(kind, self.conflict, self.failing)
        if too_soon:
            return too_soon
        if kind == kinds.TORN_UPDATE and access.thing[0] == "file" and _EMPTIES_FILE.search(access.detail):
            return (
                f"write another file, and put it in the place of {access.name} by `os.replace()` when it is "
                "complete: who reads then finds the old content or the new"
            )
        if kind == kinds.TORN_UPDATE and hands_over(access):
            return help_of_parts(access)
        timer = help_of_cancelled_timer(kind, self.conflict, self.failing)
        if timer:
            return timer
        stopped = help_of_stop_flag(kind, self.conflict, self.failing, self.passing)
        if stopped:
            return stopped
        own_step = (
            help_of_asked_act(kind, self.conflict)
            or help_of_look_at_queue(kind, self.conflict)
            or help_of_signal_for_all(kind, self.conflict)
            or help_of_publication(kind, self.conflict, self.failing)
            or help_of_loop(kind, self.conflict)
        )
        if own_step:
            return own_step
        closed = help_of_closed_loop(self.conflict)
        if closed:
            return closed
        if kind == kinds.UPDATE_AND_READ and access.holder_type == "Random":
            return f"give each call a generator of its own, instead of {access.name} for all"
        if kind == kinds.CONCURRENT_USE and self.conflict.inside is not None and access.thing[0] == "attribute":
            return (
                f"give each thread its own {access.holder_type}, unless its package promises that threads may use one "
                "at the same time"
            )
        own = help_of_same_file(self.conflict)
        if kind == kinds.OVERWRITTEN and not own:
            own = own_value_in_words(access, self.passing)
        return own or help_of_class_held(access, self.failing)

    def _relevant(self, kind: str) -> tuple[list[Access], list[Access], list[Access]]:
        """What the interrupted thread and the others did to the things of the conflict: before, meanwhile, after."""
        conflict = self.conflict
        left, right = conflict.left, conflict.right
        edges = [edge.access for edge in (left, right) if edge is not None]
        unready = used_unready(conflict)
        expired = expired_in(conflict) if kind in (kinds.EARLY_TIMEOUT, kinds.INVALIDATED) else None

        def concerns(access: Access) -> bool:
            if access.does == "gives up" and access == expired:
                return True
            return (
                access in (unready, conflict.outdated)
                or any(access.touches(edge) or edge.touches(access) for edge in edges)
                or (kind == kinds.LATE_CANCEL and access in conflict.accesses)
            )

        before: list[Access] = []
        if left is not None:
            before = [one for one in conflict.before if one.number >= left.access.number and concerns(one)]
            if right is not None and right.access.number != left.access.number:
                before = [
                    one for one in before if one.number != right.access.number
                ]  # a call in progress takes effect afterwards
        elif conflict.looked is not None:
            before = [conflict.looked]
        elif right is not None:
            before = [
                one for one in conflict.before if one.writes and concerns(one) and one.number != right.access.number
            ][-1:]
        stretch = [one for one in conflict.stretch if concerns(one)]
        after: list[Access] = []
        if right is not None and not conflict.never:
            candidates = conflict.after
            if right.access not in conflict.after:  # the call in which it was interrupted
                candidates = (right.access,)
            for one in candidates:
                if one.number > right.access.number and one.place.line != right.access.place.line:
                    break
                if concerns(one):
                    after.append(one)
        return before, stretch, after

    def _turn(self, thread: str, accesses: Sequence[Access]) -> Turn:
        left_out = 0
        if len(accesses) > _MOST_STEPS:
            left_out = len(accesses) - _MOST_STEPS
            half = _MOST_STEPS // 2
            accesses = [*accesses[:half], *accesses[-half:]]
        return Turn(thread, path_of(accesses[0]), tuple(self._steps(accesses)), left_out)

    def _steps(self, accesses: Sequence[Access]) -> Iterable[Step]:
        group: list[Access] = []
        for access in accesses:
            if group and (access.place.path, access.place.line) != (group[-1].place.path, group[-1].place.line):
                yield self._step(group)
                group = []
            group.append(access)
        if group:
            yield self._step(group)

    def _step(self, group: Sequence[Access]) -> Step:
        named = {self._name(access) for access in group if access.thing[0] != "lock"}
        several = len(named) > 1 or not {access.name for access in group}.isdisjoint(self.shared_names)
        words = dict.fromkeys(
            f"{self._name(access)}: {self.letters.does(access)}"
            if several and access.thing[0] != "lock"
            else self.letters.does(access)
            for access in group
        )
        return Step(tuple(group), ", ".join(words))

    def _name(self, access: Access) -> str:
        """What an access is to; with a letter if the story has several things with that name."""
        if access.name not in self.shared_names or access.thing[0] == "lock":
            return access.name
        return self.letters.name(access.name, access.thing[1])

    def _joined(self, turns: list[Turn], was_interrupted: bool) -> list[Turn]:
        """The turns, with what happens between them, and with numbers for what was seen before the interruption."""
        thread = self.conflict.thread
        result: list[Turn] = []
        for number, turn in enumerate(turns):
            following = turns[number + 1] if number + 1 < len(turns) else None
            then = ""
            if following is not None and self.conflict.fault == kinds.LEFT_OVER:
                then = f"the call is over; thread {thread} goes on with another one"
            elif following is not None and self.conflict.fault:
                then = f"thread {following.thread} runs"
            elif following is not None and turn.thread == thread:
                stops = (
                    "awaits" if self.conflict.of_tasks else "interrupted" if self.conflict.interrupter else "stopped"
                )
                then = f"{stops} {self._stopped_at()}; thread {following.thread} runs"
            elif following is not None and following.thread == thread:
                saw = [step for one in result for step in one.steps if one.thread == thread and step.mark]
                then = f"thread {thread} goes on" + (f" with what it saw at ({saw[-1].mark})" if saw else "")
            if turn.thread == thread and number == 0 and was_interrupted:
                turn = turn._replace(steps=tuple(self._marked(step) for step in turn.steps))
            result.append(turn._replace(then=then))
        return result

    def _marked(self, step: Step) -> Step:
        """The step with a number, if it is what the thread saw before it was interrupted."""
        left = self.conflict.left
        if left is None or not left.access.reads or left.access not in step.accesses:
            return step
        self.marks += 1
        return step._replace(mark=self.marks)

    def _stopped_at(self) -> str:
        place, after = self.conflict.stopped_at, self.conflict.after
        if place is not None:
            return f"in line {place.line}"
        return f"before line {after[0].place.line}" if after else "at its end"

    def _passing(self, steps: Sequence[Access]) -> Iterable[tuple[str, Step]]:
        wanted: dict[object, set[int]] = {}
        for access in steps:
            wanted.setdefault(_key(access), set()).add(access.thing[1])
        common = self._common()
        first = min(steps[0].number, common) if steps else 0
        # Until the runs part, objects have the same numbers in both: of those, one cannot be another.
        known = {one.thing[1] for one in self.failing.accesses if one.number < common}

        def may_be_same(access: Access) -> bool:
            there, here = wanted[_key(access)], access.thing[1]
            return here in there or not known >= {here, *there}

        later = [one for one in self.passing.accesses if one.number >= first and _key(one) in wanted]
        found = [one for one in later if may_be_same(one)]
        letters, self.letters = self.letters, Letters()  # objects of another run
        for run in _by_thread(found[:_MOST_PASSING]):
            for step in self._steps(run):
                yield run[0].thread, step
        self.letters = letters

    def _common(self) -> int:
        """The number of the first access in which the two runs differ."""
        for one, other in zip(self.failing.accesses, self.passing.accesses, strict=False):
            if (one.thread, one.time, one.thing, one.does) != (other.thread, other.time, other.thing, other.does):
                return one.number
        return len(self.failing.accesses)


def _inside_package(accesses: Sequence[Access]) -> str:
    """That all of it happens inside of installed packages, which the program's own code calls."""
    if not all(called_at(access) for access in accesses):
        return ""
    packages = dict.fromkeys(access.place.file.partition("/")[0].removesuffix(".py") for access in accesses)
    return f" All of this happens inside {listed(packages)}, which these lines call."


def inferred_from(conflict: Conflict, failing: Observation, proved: Sequence[Access] = ()) -> Iterable[str]:
    """What of a story was not seen but concluded, in words.

    Args:
        conflict: what the threads did in the failing run.
        failing: all that the failing run accessed.
        proved: accesses whose order with those of the others has been tried; nothing is left to be inferred there.
    """
    if not conflict.fault:
        yield "the kind, from the order of these accesses"
    if not failing.exact:
        yield "objects and keys, from the names in the code: without the accelerator, operands are not seen"
    for side, edge in (("before", conflict.left), ("after", conflict.right)):
        if edge is not None and edge.inferred and edge.access not in proved:
            yield (
                f"that {edge.access.place} is what must come {side} the other thread: it is the nearest access to "
                f"the edge of the failing range that touches the same thing"
            )


def _of_several(accesses: Sequence[Access]) -> frozenset[str]:
    """The names that more than one attribute or item has here."""
    holders: dict[str, set[tuple[int, str]]] = {}
    for access in accesses:
        if access.thing[0] in ("attribute", "item"):
            holders.setdefault(access.name, set()).add((access.thing[1], access.thing[2]))
    return frozenset(name for name, several in holders.items() if len(several) > 1)


def _by_thread(accesses: Sequence[Access]) -> list[list[Access]]:
    runs: list[list[Access]] = []
    for access in accesses:
        if not runs or runs[-1][0].thread != access.thread:
            runs.append([])
        runs[-1].append(access)
    return runs


def _key(access: Access) -> tuple[str, str, int, str, str]:
    return access.thread, access.place.path, access.place.line, access.does, access.name

"""Tries the links of a story: whether it fails because this access came before that one.

Rules of this module:

* A link is the order of two accesses of different threads to one thing. It is tried in the failing run itself: the
  thread of one access is stopped just before it and runs on just after the other one. All other choices stay.
* It is proved if the run then passes, and if it still fails as long as this pair keeps its order, whatever was turned
  round with the accesses beside it. Between two accesses of one thread, that is found by bisection.
* Whether the order was turned round is seen in that run, which is observed; the schedule alone does not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import Signature, signature_of
from replay_dd.schedules.isolating.circumstance import ScheduleRunner
from replay_dd.schedules.model import Log, Switch, Trigger
from replay_dd.schedules.observed.observation import Access, Observation
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.twins import windows_around

_OF_LIBRARY = ("object", "file", "database")
FAILS_TOO = "it fails, too"
PASSES_TOO = "it passes, too, if their order stays and the switch comes later"
ANOTHER_WAY = "with the switch right beside it, the run does not come to both"
_MOST_FARTHER = 4  # more accesses that are tried for an edge
_MOST_OTHERS = 64  # accesses of one side among which to bisect


class Link(NamedTuple):
    """The order of two accesses of different threads in the failing run.

    Attributes:
        first: what came first.
        second: what came after it.
        proved: whether the run passes if only their order is turned round.
        why_not: what came of the try otherwise, in words.
    """

    first: Access
    second: Access
    proved: bool
    why_not: str = ""

    @property
    def refuted(self) -> bool:
        """Whether the run fails in the same way with this order turned round."""
        return self.why_not.endswith(FAILS_TOO)

    @property
    def disproved(self) -> bool:
        """Whether something else than this order decides how the run ends."""
        return self.refuted or self.why_not == PASSES_TOO


class Links(NamedTuple):
    """The links of a story that were tried, and how many runs that took."""

    tried: tuple[Link, ...] = ()
    runs: int = 0

    @property
    def proved(self) -> tuple[Access, ...]:
        """The accesses whose order is proved to matter."""
        return tuple(access for link in self.tried if link.proved for access in (link.first, link.second))


NO_LINKS = Links()


def try_links(
    conflict: Conflict,
    observed: Observation,
    failing: Log,
    switch: Switch,
    judge: ScheduleRunner,
    runner: Runner,
    *,
    time_limit_s: float | None,
    most_runs: int,
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[Conflict, Links]:
    """Try both sides of a conflict.

    Where the access of a side is inferred and cannot be proved, another one may be proved that is farther from the edge
    of the failing range; then that one stands in its place.

    Args:
        conflict: what the threads did to each other.
        observed: all that the failing run accessed.
        failing: the final failing run.
        switch: its guilty switch.
        judge: judges the runs.
        runner: makes them.
        time_limit_s: seconds after which a run is killed.
        most_runs: how many runs to make at most.
        is_late: whether the time is over, so that no more runs are made.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        ReplayDDError: the program can no longer be run.

    Returns:
        The conflict, and what was tried.
    """
    trial = _Trial(conflict, observed, failing, switch, judge, runner, time_limit_s, most_runs, is_late)
    left, right = conflict.left, conflict.right
    tried = []
    if left is not None:
        left, link = trial.first_proved(
            [left, *_farther(left, conflict.before[::-1], conflict, observed)], is_left=True
        )
        tried.append(link)
    if right is not None:
        right, link = trial.first_proved([right, *_farther(right, conflict.after, conflict, observed)], is_left=False)
        tried.append(link)
    return conflict._replace(left=left, right=right), Links(tuple(tried), trial.runs)


def _farther(edge: Edge, accesses: Sequence[Access], conflict: Conflict, observed: Observation) -> list[Edge]:
    """What else may stand for an edge that is only inferred: the next accesses of the thread that conflict, too.

    What comes before the stretch may conflict with what the other threads do after it, when they go on.
    """
    if not edge.inferred or edge.access not in accesses or not conflict.stretch:
        return []
    others = conflict.stretch
    if edge is conflict.left:
        begins = conflict.stretch[0].number
        others = tuple(one for one in observed.accesses if one.number >= begins and one.thread != conflict.thread)
    found: dict[int, Edge] = {}
    for access in accesses[accesses.index(edge.access) + 1 :]:
        conflicting = tuple(other for other in others if other.conflicts(access))
        if conflicting and access.thing[0] != "lock" and access.place != edge.access.place:
            found.setdefault(access.place.line, Edge(access, conflicting, inferred=False))
        if len(found) == _MOST_FARTHER:
            break
    return list(found.values())


@dataclass
class _Ended:
    """How a run with a changed order ended; ``turned`` tells whether the order really was another one."""

    outcome: Outcome
    turned: bool
    words: str


class _NoMoreRunsError(Exception):
    """No more runs may be made; says why."""


@dataclass
class _Trial:
    conflict: Conflict
    observed: Observation
    failing: Log
    switch: Switch
    judge: ScheduleRunner
    runner: Runner
    time_limit_s: float | None
    most_runs: int
    is_late: Callable[[], bool]
    runs: int = 0

    def first_proved(self, edges: Sequence[Edge], *, is_left: bool) -> tuple[Edge, Link]:
        """The first of these edges for which a link is proved, with that; the very first if there is none."""
        links = []
        for number, edge in enumerate(edges):
            links.append(self._link_of(edge, is_left=is_left, beside=edge.inferred or number > 0))
            if links[-1].proved:
                return edge, links[-1]
        return edges[0], links[0]

    def _link_of(self, edge: Edge, *, is_left: bool, beside: bool) -> Link:
        """Find the access of the others whose order with that of the edge matters, and try it."""
        access = edge.access
        others = _ends_of_steps(edge.others, last=is_left)[:_MOST_OTHERS]
        if not is_left:
            others.reverse()  # so that it passes from some number on, on both sides
        turn = self._after if is_left else self._before
        pair = access, others[-1]
        try:
            why_not = self._fails_beside(access, others[-1], is_left=is_left) if beside else ""
            if why_not:
                return self._link(pair, is_left, why_not)
            last = turn(access, others[-1])
            if not last.turned and len(others) > 1:
                # The other thread may not come that far, as it goes another way once the first of them is turned round.
                first = turn(access, others[0])
                if first.turned and first.outcome is Outcome.PASS:
                    return self._link((access, others[0]), is_left)
            if not last.turned:
                return self._link(pair, is_left, "they cannot be reversed alone")
            if last.outcome is not Outcome.PASS:
                also = last.outcome is Outcome.FAIL
                words = FAILS_TOO if also else f"this failure is gone, but {last.words}"
                return self._link(pair, is_left, f"the other way round, {words}")
            fails, passes = -1, len(others) - 1
            while passes - fails > 1:
                middle = (fails + passes) // 2
                ended = turn(access, others[middle])
                if ended.turned and ended.outcome is Outcome.PASS:
                    passes = middle
                else:
                    fails = middle
        except _NoMoreRunsError as error:
            return self._link(pair, is_left, str(error))
        return self._link((access, others[passes]), is_left)

    def _link(self, pair: tuple[Access, Access], is_left: bool, why_not: str = "") -> Link:
        first, second = pair if is_left else pair[::-1]
        return Link(first, second, not why_not, why_not)

    def _fails_beside(self, access: Access, other: Access, *, is_left: bool) -> str:
        """Why the run does not fail with the switch right beside an access, so that nothing else is turned round.

        Empty if it does.
        """
        time = self._time_after(access) if is_left else access.time
        if time is None:
            return PASSES_TOO
        outcome, seen, ended = self._run([self._to_others(time)], moved=True)
        if outcome is Outcome.FAIL or (outcome is Outcome.UNRESOLVED and self._fails_alike(ended)):
            return ""
        first, second = (access, other) if is_left else (other, access)
        one, then = (_again(each, self.observed, seen) for each in (first, second))
        # The other thread may wait for a lock that this one has by then, or may never come there.
        kept = one is not None and then is not None and one.number < then.number
        if kept and outcome is Outcome.UNRESOLVED:
            return f"with the switch right beside it, it ends with {ended.text}"
        return PASSES_TOO if kept else ANOTHER_WAY

    def _fails_alike(self, ended: Signature) -> bool:
        """Whether it is the same failure but for its message, which tells what was found a little later."""
        return ended.same_but_for_message(signature_of(self.failing.ending))

    def _after(self, own: Access, other: Access) -> _Ended:
        """Let the thread do its access only after that of the other one."""
        added = [self._to_others(self._time_before(own, other), other.thread)]
        back = self._time_after(other, own)
        if back is not None:
            added.append(Trigger(other.thread, back, own.thread))
        return self._turned(added, other, own)

    def _before(self, own: Access, other: Access) -> _Ended:
        """Let the thread do its access already before that of the other one."""
        stop = self._time_before(other, own)
        stands = self._stands_at(stop, other)
        added = [] if stands else [Trigger(other.thread, stop, own.thread)]
        back = self._time_after(own, other)
        if back is not None:
            added.append(Trigger(own.thread, back, other.thread))
        return self._turned(added, own, other, moved=stands)

    def _stands_at(self, stop: int, other: Access) -> bool:
        """Whether the other thread has come as far when the guilty switch gives it its turn: that must come later."""
        away = [one for one in self.failing.switches if one.global_time <= self.switch.global_time]
        last = next((one.time for one in reversed(away) if one.thread == other.thread), -1)
        return self.switch.thread == self.conflict.thread and stop <= last <= other.time

    def _to_others(self, time: int, other: str = "") -> Trigger:
        thread = self.conflict.thread
        return Trigger(thread, time, self.switch.to if thread == self.switch.thread or not other else other)

    def _turned(self, added: Sequence[Trigger], first: Access, second: Access, *, moved: bool = False) -> _Ended:
        outcome, seen, ended = self._run(added, moved=moved)
        one, other = _again(first, self.observed, seen), _again(second, self.observed, seen)
        return _Ended(
            outcome, one is not None and (other is None or one.number < other.number), f"it ends with {ended.text}"
        )

    def _run(self, added: Sequence[Trigger], *, moved: bool = False) -> tuple[Outcome, Observation, Signature]:
        """Make the failing run with more triggers; ``moved`` leaves out the guilty one."""
        if self.runs >= self.most_runs:
            raise _NoMoreRunsError("no more runs were allowed")
        if self.is_late():
            raise _NoMoreRunsError("no time was left to try it")
        self.runs += 1
        places = {(trigger.thread, trigger.time) for trigger in added}
        kept = [
            trigger
            for trigger in self.failing.triggers
            if (trigger.thread, trigger.time) not in places and not (moved and trigger == self.switch.trigger)
        ]
        plan = replace(
            replay_plan(tuple(sorted((*kept, *added))), self.failing.arrivals),
            observed=windows_around(self.failing, self.switch, self.switch),
        )
        run = self.runner.run(plan, self.time_limit_s)
        return self.judge.outcome(run.log), run.accesses, signature_of(run.log.ending)

    def _time_before(self, access: Access, other: Access) -> int:
        """The thread time at which another thread can come first: before the section under the lock that both hold."""
        common = set(access.held) & set(other.held)
        time = self._time_of(access)
        for one in reversed([one for one in self.observed.accesses if one.thread == access.thread]):
            if one.number >= access.number:
                continue
            if one.does == "acquires" and one.thing[1] in common:
                time = one.time
            elif common.isdisjoint(one.held):
                break
        return time

    def _time_of(self, access: Access) -> int:
        """The thread time of an access; what lets go of an object does so already, though that is seen only then."""
        if access.is_weak and access.does == "deletes":
            own = (one for one in self.observed.accesses if one.thread == access.thread and one.number < access.number)
            return max((one.time for one in own if one.place == access.place), default=access.time)
        return access.time

    def _time_after(self, access: Access, other: Access | None = None) -> int | None:
        """The thread time of the first yield point after an access; None if it is not known that there is one.

        If another access is made under the same lock, that of the first access after the section.
        """
        common = set(access.held) & set(other.held) if other is not None else set()
        if common:
            later = (one for one in self.observed.accesses if one.number > access.number)
            own = (one for one in later if one.thread == access.thread)
            return next((one.time for one in own if common.isdisjoint(one.held)), None)
        if access.does != "calls" or access.thing[0] not in _OF_LIBRARY:
            time: int | None = access.time + 1
        else:  # the operations of a library function belong to its call
            line = access.place.path, access.place.line
            time = next(
                (
                    one.time
                    for one in self.observed.accesses
                    if (one.thread == access.thread and one.time > access.time)
                    and not (one.place.operation and (one.place.path, one.place.line) == line)
                ),
                None,
            )
        last = self.failing.ending.thread_times.get(access.thread)
        return None if time is None or (last is not None and time > last) else time


def _ends_of_steps(accesses: Sequence[Access], *, last: bool) -> list[Access]:
    """The first or the last of the accesses that one instruction makes."""
    steps: dict[tuple[str, int], Access] = {}
    for access in accesses:
        if last or (access.thread, access.time) not in steps:
            steps[access.thread, access.time] = access
    return sorted(steps.values(), key=lambda access: access.number)


def _again(access: Access, observed: Observation, seen: Observation) -> Access | None:
    """The same access in another run: the same visit of its place by its thread."""
    before = [one for one in observed.accesses if one.number < access.number and _same_place(one, access)]
    visits = [one for one in seen.accesses if _same_place(one, access)]
    return visits[len(before)] if len(before) < len(visits) else None


def _same_place(one: Access, other: Access) -> bool:
    return one.thread == other.thread and (one.place, one.does, one.thing[0]) == (
        *(other.place, other.does),
        other.thing[0],
    )

"""Explains an isolated switch: observes both twins and tells their story."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple

from replay_dd.errors import ReplayDDError
from replay_dd.schedules.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.circumstance import MixedSchedules
from replay_dd.schedules.comparable import time_limit_for
from replay_dd.schedules.experiments.result import Experiments
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.model import Switch
from replay_dd.schedules.story.after_wait import acted_after_wait
from replay_dd.schedules.story.both import (
    with_first_half,
    with_first_step,
    with_overlapping_calls,
    with_own_check,
    with_stale_check,
)
from replay_dd.schedules.story.chain import NO_CHAIN, Chain, follow_chain
from replay_dd.schedules.story.conflict import Conflict, find_conflict, interrupted_update, with_own_look
from replay_dd.schedules.story.deadlock import tell_deadlock, with_race
from replay_dd.schedules.story.dependences import Dependences
from replay_dd.schedules.story.first_difference import INFERRED, conflicts_of_first_looks
from replay_dd.schedules.story.kinds import (
    LOST_UPDATE,
    OF_TWO_READS,
    ORDER_VIOLATION,
    TOO_EARLY,
    TORN_UPDATE,
    essential,
    kind_of,
)
from replay_dd.schedules.story.links import NO_LINKS, Link, Links, try_links
from replay_dd.schedules.story.looks import conflict_of_choice, with_early_look
from replay_dd.schedules.story.own_fault import tell_own_fault
from replay_dd.schedules.story.raised import deciding_look
from replay_dd.schedules.story.refuted import as_tried, is_a_guess, without_refuted
from replay_dd.schedules.story.sentences import other_order
from replay_dd.schedules.story.sentinel import as_proved, between_producers
from replay_dd.schedules.story.stale_store import is_of_two_things, with_stale_store
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.tasks import tell_tasks
from replay_dd.schedules.story.tell import inferred_from, tell_race
from replay_dd.schedules.story.twins import OBSERVED_RUNS, Twins, observe_twins
from replay_dd.schedules.story.victim import (
    better_of,
    changed_in_between,
    conflict_of_victim,
    failed_access,
    is_raised,
    made_by_both,
    made_once_more,
    never_done,
)

_ELSEWHERE = "that this choice decides: nothing at the isolated one touches what threads share"
_MOST_CHOICES = 2  # beside the isolated one that are looked at


class Explanation(NamedTuple):
    """The story of an isolated switch.

    Attributes:
        story: the story; None if there is none.
        why_not: why there is none.
        chain: how the failure comes from what the threads did to each other.
        links: the orders that the failure needs, each tried by an experiment.
        interrupted: whether Ctrl-C ended it.
        twins: what was seen of both runs; None if they were not observed.
        tried: what was tried against the failure; None if nothing was.
        conflict: what the story is about; None if there is none.
    """

    story: Story | None
    why_not: str = ""
    links: Links = NO_LINKS
    chain: Chain = NO_CHAIN
    interrupted: bool = False
    twins: Twins | None = None
    tried: Experiments | None = None
    conflict: Conflict | None = None


def explain(found: ScheduleIsolation, time_limit_s: float | None = None, runner: Runner | None = None) -> Explanation:
    """Explain an isolated switch, with no more runs than the isolation took.

    Whatever goes wrong here costs the story, never the answer.

    Args:
        found: the isolation.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded runs.
        runner: runs the program; by default a new one.
    """
    if found.isolation.interrupted:  # nobody waits for more runs
        return Explanation(None, "interrupted", interrupted=True)
    if found.switch is None:
        return Explanation(None, "no switch was isolated")
    if not found.isolation.complete:
        return Explanation(None, "the search was stopped before it was complete")
    if not found.isolation.verified or found.isolation.circumstance.flaky:
        return Explanation(None, "the final runs do not replay exactly")
    limit_s = (time_limit_for((found.passing, found.failing)) if time_limit_s is None else time_limit_s) * 3
    try:
        own = Runner(found.failing.program, found.failing.settings) if runner is None else nullcontext(runner)
        with own as used:
            ends = found.passing, found.failing
            twins = observe_twins(*ends, found.switch.failing, found.failing_range, limit_s, used)
            told = Explanation(None) if twins.why_not else _told(found, found.switch, twins, used, limit_s)
    except KeyboardInterrupt:
        return Explanation(None, "interrupted", interrupted=True)
    except ReplayDDError as error:
        return Explanation(None, str(error))
    except Exception as error:
        return Explanation(None, f"what was seen cannot be told ({type(error).__name__}: {error})")
    if told.story is None:
        return told._replace(why_not=twins.why_not or "no access to a common thing was seen at the switch")
    return told._replace(twins=twins)


def _told(
    found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins, runner: Runner, limit_s: float | None
) -> Explanation:
    ending = found.failing.ending
    told = _race(found, switch, twins, runner, limit_s)
    if twins.failing_hang is None:
        return told
    alone = tell_deadlock(twins.failing_hang, twins.passing_hang, ending, twins.failing_flow)
    story = with_race(alone, told.story)
    if story is alone:  # of a race that is not told, what makes no difference says nothing
        links = told.links._replace(tried=tuple(link for link in told.links.tried if link.proved))
        told = told._replace(links=links)
    return told._replace(story=story)


def _race(
    found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins, runner: Runner, limit_s: float | None
) -> Explanation:
    ending = found.failing.ending
    conflict = conflict_of(found, switch, twins)
    own_fault = tell_own_fault(conflict, twins, ending)
    if own_fault is not None:
        return Explanation(own_fault[1], conflict=own_fault[0])
    if conflict.left is None and conflict.right is None:
        other = _of_first_look(found, switch, twins, runner, limit_s)
        return other if other.story or other.interrupted else _of_other_choice(found, twins, runner, limit_s)
    links, proved, interrupted = NO_LINKS, conflict, False
    try:
        proved, links = _links(found, switch, twins, conflict, runner, limit_s)
    except KeyboardInterrupt:
        interrupted = True
    except ReplayDDError:
        pass  # the story stands without
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION and not interrupted:
        producers = _between_producers(found, switch, twins, conflict, runner, limit_s, links.runs)
        conflict, proved, links = producers or (conflict, proved, links)
    of_two_reads = kind_of(conflict, replace(ending, deadlock=())) in OF_TWO_READS
    looked_twice = conflict
    if of_two_reads or is_of_two_things(conflict):
        conflict = with_stale_store(conflict, links, twins.failing, twins.failing_flow)
    replaced = conflict is not looked_twice and links.tried[1].refuted
    if of_two_reads:
        conflict = without_refuted(conflict, links)
    # What led to a hang is told as if it had failed at once: the hang itself has its own story.
    at_once = ending if twins.failing_hang is None else replace(ending, deadlock=())
    story = tell_race(conflict, twins.failing, twins.passing, at_once, links.proved)
    if story is None:
        return Explanation(None, interrupted=interrupted)
    if is_a_guess(conflict, links):  # a hang tells itself what it waits for
        why = f"the accesses at the switch make no difference: {links.tried[0].why_not}"
        other = _of_first_look(found, switch, twins, runner, limit_s, links.runs)
        return other if other.story else Explanation(None, why if twins.failing_hang is None else "")
    story = story._replace(inferred=tuple(inferred_from(conflict, twins.failing, links.proved)))
    story = as_tried(story, links, replaced=replaced)
    try:
        more = _other_orders(found, switch, twins, proved, runner, limit_s, links) if not interrupted else NO_LINKS
    except KeyboardInterrupt:
        more, interrupted = NO_LINKS, True
    except ReplayDDError:
        more = NO_LINKS
    for link in more.tried:
        story = story._replace(summary=story.summary + other_order(link.first, link.second))
    links = Links((*links.tried, *more.tried), links.runs + more.runs)
    return Explanation(story, "", links, _chain(twins, proved, found, story), interrupted, conflict=conflict)


def _other_orders(
    found: ScheduleIsolation,
    switch: GuiltySwitch,
    twins: Twins,
    conflict: Conflict,
    runner: Runner,
    limit_s: float | None,
    links: Links,
) -> Links:
    """What else has to come in an order, at the other choices that the failure needs: only what was proved."""
    if found.needed is None or not found.needed.minimal or not links.proved or twins.failing_hang is not None:
        return NO_LINKS
    others = [one for one in found.choices if one != switch.failing and not one.forced]
    about = [*links.proved, *(edge.access for edge in (conflict.left, conflict.right) if edge is not None)]
    proved: list[Link] = []
    runs = 0
    for choice in others[:_MOST_CHOICES]:
        at_choice = find_conflict(twins.failing, GuiltySwitch(choice, None), None)._replace(left=None)
        if at_choice.right is None or any(at_choice.right.access.touches(one) for one in about):
            continue
        _, tried = _links(found, GuiltySwitch(choice, None), twins, at_choice, runner, limit_s, links.runs + runs)
        runs += tried.runs
        proved += [link for link in tried.tried if link.proved and not any(link.first.touches(one) for one in about)]
    return Links(tuple(proved), runs)


def _of_first_look(
    found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins, runner: Runner, limit_s: float | None, runs: int = 0
) -> Explanation:
    """The story of the first look that differs between the runs; none if what was tried speaks against it."""
    ending = found.failing.ending
    if twins.failing_hang is not None:
        return Explanation(None)
    told = tell_tasks(twins.failing, twins.passing, ending)
    if told is not None:
        return Explanation(told[1], conflict=told[0])
    for seen in conflicts_of_first_looks(twins.failing, twins.passing):
        conflict = with_own_check(seen, twins.failing)
        try:
            _, links = _links(found, switch, twins, conflict, runner, limit_s, runs)
        except KeyboardInterrupt:
            return Explanation(None, interrupted=True)
        except ReplayDDError:
            return Explanation(None)
        runs += links.runs
        story = tell_race(conflict, twins.failing, twins.passing, ending)
        if story is None or any(link.disproved for link in links.tried):
            continue
        story = as_tried(story._replace(inferred=(*story.inferred, INFERRED)), links)
        links, chain = links._replace(runs=runs), _chain(twins, conflict, found, story)
        return Explanation(story, links=links, chain=chain, conflict=conflict)
    return Explanation(None)


def _of_other_choice(
    found: ScheduleIsolation, twins: Twins, runner: Runner, limit_s: float | None, runs: int = 0
) -> Explanation:
    """The story of another choice that the failure needs, where nothing at the isolated one touches what is shared."""
    if found.switch is None or found.needed is None or not found.needed.minimal or twins.failing_hang is not None:
        return Explanation(None)
    seen = [(choice, with_stale_check(one)) for choice, one in _elsewhere(found, found.switch, twins)]
    for choice, conflict in sorted(seen, key=lambda one: one[1].left is None):  # two sides say more than an order
        try:
            _, links = _links(found, GuiltySwitch(choice, None), twins, conflict, runner, limit_s, runs)
        except KeyboardInterrupt:
            return Explanation(None, interrupted=True)
        except ReplayDDError:
            return Explanation(None)
        runs += links.runs
        story = tell_race(conflict, twins.failing, twins.passing, found.failing.ending, links.proved)
        if story is None or not links.proved or any(link.disproved for link in links.tried):
            continue
        story = as_tried(story._replace(inferred=(*story.inferred, _ELSEWHERE)), links)
        links, chain = links._replace(runs=runs), _chain(twins, conflict, found, story)
        return Explanation(story, links=links, chain=chain, conflict=conflict)
    return Explanation(None)


def _between_producers(
    found: ScheduleIsolation,
    switch: GuiltySwitch,
    twins: Twins,
    conflict: Conflict,
    runner: Runner,
    limit_s: float | None,
    runs: int,
) -> tuple[Conflict, Conflict, Links] | None:
    """The conflict of two that put something into a queue, with what was tried; None if that is not proved."""
    producers = between_producers(conflict, twins.failing)
    if producers is None:
        return None
    try:
        _, links = _links(found, switch, twins, producers, runner, limit_s, runs)
    except ReplayDDError:
        return None
    proved = as_proved(producers, links)
    return None if proved is None else (proved, proved, links._replace(runs=links.runs + runs))


def conflict_of(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins) -> Conflict:
    """The conflict that the story of a race is about.

    Args:
        found: the isolation.
        switch: its guilty switch.
        twins: what was seen of both runs.
    """
    ending = found.failing.ending
    conflict = conflict_of_choice(twins.failing, twins.passing, switch) or conflict_at_edges(found, switch, twins)
    conflict = with_early_look(conflict, twins.failing, twins.passing)
    victim = failed_access(twins.failing, twins.passing, switch.failing, ending)
    if victim is None or not is_raised(victim, ending):  # it may have failed elsewhere, and been caught there
        vague = (
            kind_of(with_own_check(conflict, twins.failing), ending) in ("", ORDER_VIOLATION) and not ending.deadlock
        )
        victim = (deciding_look(twins.failing, twins.passing, ending) if vague else None) or victim
    if victim is not None:
        by_victim = conflict_of_victim(twins.failing, twins.passing, victim, ending)
        conflict = made_by_both(twins.failing, victim) or better_of(conflict, by_victim, victim)
    elif kind_of(conflict, replace(ending, deadlock=())) in ("", ORDER_VIOLATION):
        conflict = _earlier_lost_update(found, switch, twins, conflict) or conflict
    guessed = all(edge is None or edge.inferred for edge in (conflict.left, conflict.right))
    if guessed and not ending.deadlock:
        conflict = never_done(twins.failing, twins.passing, switch.failing) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) in (TOO_EARLY, ORDER_VIOLATION):
        conflict = made_once_more(twins.failing, conflict) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION:
        conflict = acted_after_wait(conflict, twins.failing) or changed_in_between(twins.failing, conflict) or conflict
    if kind_of(conflict, replace(ending, deadlock=())) in (ORDER_VIOLATION, TORN_UPDATE):
        conflict = with_own_check(conflict, twins.failing)
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION:
        conflict = with_first_half(with_first_step(conflict, switch, found.failing_range))
    if kind_of(conflict, replace(ending, deadlock=())) == ORDER_VIOLATION:
        conflict = with_stale_check(with_overlapping_calls(conflict, switch, twins.failing), of_same=True)
    return essential(conflict, ending)


def _earlier_lost_update(
    found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins, conflict: Conflict
) -> Conflict | None:
    """The lost update at another choice that the failure needs: the isolated one may only let its effect be seen.

    It must be to what the isolated switch is about, if that is known.
    """
    if found.needed is None or not found.needed.minimal:
        return None
    about = [edge.access for edge in (conflict.left, conflict.right) if edge is not None]
    for choice in found.choices:
        if choice == switch.failing or choice.forced:
            continue
        earlier = interrupted_update(twins.failing, choice)
        if earlier is None or earlier.right is None:
            continue
        stored = earlier.right.access
        same = not about or any(stored.touches(one) for one in about)
        if same and kind_of(earlier, replace(found.failing.ending, deadlock=())) == LOST_UPDATE:
            return earlier
    return None


def conflict_at_edges(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins) -> Conflict:
    """The conflict that the edges of the failing range show; arguments as for :func:`conflict_of`."""
    return with_own_look(find_conflict(twins.failing, switch, found.failing_range))


def conflicts_elsewhere(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins) -> Iterator[Conflict]:
    """The conflicts at the other choices that the failure needs: the isolated one may only let their effect be seen."""
    for _, conflict in _elsewhere(found, switch, twins):
        if conflict.right is not None and not conflict.right.inferred:
            yield conflict


def _elsewhere(found: ScheduleIsolation, switch: GuiltySwitch, twins: Twins) -> Iterator[tuple[Switch, Conflict]]:
    for choice in found.choices if found.needed is not None else ():
        if choice == switch.failing or choice.forced:
            continue
        conflict = with_own_look(find_conflict(twins.failing, GuiltySwitch(choice, None), None))
        if conflict.right is not None:
            yield choice, conflict


def _links(
    found: ScheduleIsolation,
    switch: GuiltySwitch,
    twins: Twins,
    conflict: Conflict,
    runner: Runner,
    limit_s: float | None,
    runs: int = 0,
) -> tuple[Conflict, Links]:
    schedules = found.isolation.circumstance
    assert isinstance(schedules, MixedSchedules)
    return try_links(
        *(conflict, twins.failing, found.failing, switch.failing, schedules.runs, runner),
        time_limit_s=limit_s,
        most_runs=found.isolation.runs - OBSERVED_RUNS - runs,
    )


def _chain(twins: Twins, conflict: Conflict, found: ScheduleIsolation, story: Story) -> Chain:
    ending = found.failing.ending
    if twins.failing_flow is None or twins.passing_flow is None or ending.deadlock:
        return NO_CHAIN
    failing = Dependences(twins.failing_flow, twins.failing)
    passing = Dependences(twins.passing_flow, twins.passing)
    try:
        return follow_chain(failing, passing, conflict, ending, found.passing.ending, story)
    except Exception as error:  # the story stands without
        return NO_CHAIN._replace(lost=f"what was seen cannot be told ({type(error).__name__}: {error})")

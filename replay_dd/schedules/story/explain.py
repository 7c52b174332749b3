"""Explains an isolated switch: observes both twins and tells their story."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from replay_dd.errors import ReplayDDError
from replay_dd.schedules.isolating.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.replaying.comparable import time_limit_for
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.story.at_switch import choices_elsewhere, conflict_of
from replay_dd.schedules.story.both import with_own_check, with_stale_check
from replay_dd.schedules.story.causes import try_conflict
from replay_dd.schedules.story.chain import NO_CHAIN, Chain, follow_chain
from replay_dd.schedules.story.check_before_lock import with_act_under_lock
from replay_dd.schedules.story.conflict import Conflict, about_one_thing, find_conflict
from replay_dd.schedules.story.deadlock import tell_deadlock, with_race
from replay_dd.schedules.story.dependences import Dependences
from replay_dd.schedules.story.experiment_results import Experiments
from replay_dd.schedules.story.first_difference import INFERRED, conflicts_of_first_looks
from replay_dd.schedules.story.interrupted_update import interrupted_update
from replay_dd.schedules.story.interruptions import tell_interruption
from replay_dd.schedules.story.kinds import OF_TWO_READS, ORDER_VIOLATION, kind_of
from replay_dd.schedules.story.links import NO_LINKS, Link, Links
from replay_dd.schedules.story.order_trials import OrderTrials
from replay_dd.schedules.story.outdated_check import INFERRED as OUTDATED
from replay_dd.schedules.story.outdated_check import outdated_check
from replay_dd.schedules.story.own_fault import tell_own_fault
from replay_dd.schedules.story.parts import with_parts
from replay_dd.schedules.story.refused_act import refused_act
from replay_dd.schedules.story.refuted import all_disproved, as_tried, is_a_guess, without_refuted
from replay_dd.schedules.story.sentences import at, other_order
from replay_dd.schedules.story.stale_store import is_of_two_things, with_stale_store, with_stale_value
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.tasks import tell_tasks
from replay_dd.schedules.story.tell import inferred_from, tell_race
from replay_dd.schedules.story.twins import Twins, observe_twins
from replay_dd.schedules.story.words import listed

_NOTHING_IN_COMMON = "no access to a common thing was seen at the switch"
_NOT_SEEN = (
    "what the standard library did for others meanwhile is seen if the runs are made with "
    "`--trace-include PACKAGE`, such as `logging`"
)
_ELSEWHERE = "that this choice decides: {}"
_UNSHARED = "nothing at the isolated one touches what threads share"
_INDIFFERENT = "the accesses at the isolated one make no difference"
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


def explain(
    found: ScheduleIsolation,
    time_limit_s: float | None = None,
    runner: Runner | None = None,
    *,
    ends_at: float | None = None,
) -> Explanation:
    """Explain an isolated switch, with no more runs than the isolation took.

    Whatever goes wrong here costs the story, never the answer.

    Args:
        found: the isolation.
        time_limit_s: seconds after which a run is killed; None to derive it from the recorded runs.
        runner: runs the program; by default a new one.
        ends_at: the time, as ``time.monotonic`` tells it, after which no more orders are tried; None for no limit. What
            the final runs show is told all the same.
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
            trials = OrderTrials(found, twins, used, limit_s, ends_at)
            told = Explanation(None) if twins.why_not else _told(trials, found.switch)
    except KeyboardInterrupt:
        return Explanation(None, "interrupted", interrupted=True)
    except ReplayDDError as error:
        return Explanation(None, str(error))
    except Exception as error:
        return Explanation(None, f"what was seen cannot be told ({type(error).__name__}: {error})")
    if told.story is None:
        why_not = twins.why_not or told.why_not or _by_chance(twins, found.switch) or _nothing_seen(twins, found.switch)
        return told._replace(why_not=why_not)
    return told._replace(twins=twins)


def _nothing_seen(twins: Twins, switch: GuiltySwitch) -> str:
    """That nothing in common was seen, and what shows more if others have called the standard library meanwhile."""
    others = find_conflict(twins.failing, switch, None).stretch
    called = any(one.does == "wants" and one.place.instruction.startswith("CALL") for one in others)
    return f"{_NOTHING_IN_COMMON}; {_NOT_SEEN}" if called else _NOTHING_IN_COMMON


def _by_chance(twins: Twins, switch: GuiltySwitch) -> str:
    """That an update is lost in the passing run, which hides what went wrong in both; empty if none is."""
    found = None if switch.passing is None else interrupted_update(twins.passing, switch.passing, twins.passing_flow)
    if found is None or found.left is None or found.right is None:
        return ""
    read, stored = at(found.left.access), at(found.right.access)
    where = listed(dict.fromkeys((read, stored)))
    return f"the passing run passes by chance: an update of {found.left.access.name} ({where}) is lost there"


def _told(trials: OrderTrials, switch: GuiltySwitch) -> Explanation:
    twins = trials.twins
    told = _race(trials, switch)
    if twins.failing_hang is None:
        return told
    alone = tell_deadlock(twins.failing_hang, twins.passing_hang, trials.ending, twins.failing_flow)
    story = with_race(alone, told.story)
    if story is alone:  # of a race that is not told, what makes no difference says nothing
        links = told.links._replace(tried=tuple(link for link in told.links.tried if link.proved))
        told = told._replace(links=links)
    return told._replace(story=story)


def _race(trials: OrderTrials, isolated: GuiltySwitch) -> Explanation:
    twins, ending = trials.twins, trials.ending
    interrupted_within = None
    if isolated.failing.collects and twins.failing_hang is None:
        interrupted_within = tell_interruption(twins.failing, twins.passing, ending)
    if interrupted_within is not None:
        return Explanation(interrupted_within[1], conflict=interrupted_within[0])
    told = _race_of_threads(trials, isolated)
    if told.story is None and not told.interrupted and twins.failing_hang is None:
        handled = tell_interruption(twins.failing, twins.passing, ending)
        told = told if handled is None else Explanation(handled[1], conflict=handled[0])
    return told


def _race_of_threads(trials: OrderTrials, isolated: GuiltySwitch) -> Explanation:
    twins, ending = trials.twins, trials.ending
    conflict = conflict_of(trials.found, isolated, twins)
    own_fault = tell_own_fault(conflict, twins, ending)
    if own_fault is not None:
        return Explanation(own_fault[1], conflict=own_fault[0])
    if conflict.left is None and conflict.right is None:
        return _first_of(trials, isolated, _of_first_look, partial(_of_other_choice, why=_UNSHARED), _of_outdated_check)
    switch, (conflict, proved, links), interrupted = try_conflict(trials, isolated, conflict)
    of_two_reads = kind_of(conflict, replace(ending, deadlock=())) in OF_TWO_READS
    looked_twice = conflict
    if of_two_reads or is_of_two_things(conflict):
        conflict = with_stale_store(conflict, links, twins.failing, twins.failing_flow)
    replaced = conflict is not looked_twice and links.tried[1].refuted
    if of_two_reads:
        conflict = without_refuted(conflict, links)
    # What led to a hang is told as if it had failed at once: the hang itself has its own story.
    at_once = ending if twins.failing_hang is None else replace(ending, deadlock=())
    if kind_of(conflict, at_once) == ORDER_VIOLATION:
        conflict = with_parts(with_act_under_lock(conflict, links, twins.failing), links.proved)
    story = tell_race(conflict, twins.failing, twins.passing, at_once, links.proved)
    if story is None:
        return Explanation(None, interrupted=interrupted)
    if links.tried and not links.proved and kind_of(conflict, at_once) == ORDER_VIOLATION:
        other = _of_first_look(trials, isolated, only_proved=True)
        if other.story is not None:
            return other
    if all_disproved(links) and not is_a_guess(conflict, links):
        other = _of_other_choice(trials, isolated, why=_INDIFFERENT)
        if other.story is not None:
            return other
    if conflict.looked is not None or kind_of(conflict, at_once) == ORDER_VIOLATION:
        other = _of_outdated_check(trials, isolated)
        if other.conflict is not None and not about_one_thing(conflict, other.conflict):
            return other
    if is_a_guess(conflict, links):  # a hang tells itself what it waits for
        why = f"the accesses at the switch make no difference: {links.tried[0].why_not}"
        elsewhere = partial(_of_other_choice, why=_INDIFFERENT)
        other = _first_of(trials, isolated, _of_first_look, elsewhere, _of_outdated_check)
        return other if other.story else Explanation(None, why if twins.failing_hang is None else "")
    story = story._replace(inferred=tuple(inferred_from(conflict, twins.failing, links.proved)))
    story = as_tried(story, links, replaced=replaced)
    if switch.failing != isolated.failing:
        story = story._replace(passing=())  # that run has this choice, too
    more: list[Link] = []
    try:
        more = _other_orders(trials, switch, proved, links) if not interrupted else []
    except KeyboardInterrupt:
        interrupted = True
    except ReplayDDError:
        pass
    for link in more:
        story = story._replace(summary=story.summary + other_order(link.first, link.second))
    links = Links((*links.tried, *more), trials.runs)
    return Explanation(story, "", links, _chain(trials, proved, story), interrupted, conflict=conflict)


def _first_of(
    trials: OrderTrials, switch: GuiltySwitch, *kinds: Callable[[OrderTrials, GuiltySwitch], Explanation]
) -> Explanation:
    """The first story that one of these finds; without one, or if Ctrl-C came, none."""
    for kind in kinds:
        told = kind(trials, switch)
        if told.story or told.interrupted:
            return told
    return Explanation(None)


def _other_orders(trials: OrderTrials, switch: GuiltySwitch, conflict: Conflict, links: Links) -> list[Link]:
    """What else has to come in an order, at the other choices that the failure needs: only what was proved."""
    proved: list[Link] = []
    if not trials.needs_several or not links.proved or trials.twins.failing_hang is not None:
        return proved
    others = [one for one in trials.found.choices if one != switch.failing and not one.forced]
    about = [*links.proved, *(edge.access for edge in conflict.edges)]
    for choice in others[:_MOST_CHOICES]:
        at_choice = find_conflict(trials.twins.failing, GuiltySwitch(choice, None), None)._replace(left=None)
        if at_choice.right is None or any(at_choice.right.access.touches(one) for one in about):
            continue
        _, tried = trials.links(GuiltySwitch(choice, None), at_choice)
        proved += [link for link in tried.tried if link.proved and not any(link.first.touches(one) for one in about)]
    return proved


def _of_first_look(trials: OrderTrials, switch: GuiltySwitch, *, only_proved: bool = False) -> Explanation:
    """The story of the first look that differs between the runs; none if what was tried speaks against it."""
    twins = trials.twins
    if twins.failing_hang is not None:
        return Explanation(None)
    told = None if only_proved else tell_tasks(twins.failing, twins.passing, trials.ending)
    if told is not None:
        return Explanation(told[1], conflict=told[0])
    looks = conflicts_of_first_looks(twins.failing, twins.passing)
    own = ((switch, with_own_check(seen, twins.failing)) for seen in looks)
    return _first_told(trials, own, INFERRED, only_proved=only_proved)


def _of_other_choice(trials: OrderTrials, switch: GuiltySwitch, *, why: str) -> Explanation:
    """The story of another choice that the failure needs, and why not that of the isolated one."""
    if not trials.needs_several or trials.twins.failing_hang is not None:
        return Explanation(None)
    failing, flow = trials.twins.failing, trials.twins.failing_flow
    elsewhere = choices_elsewhere(trials.found, switch, trials.twins)
    seen = [
        (GuiltySwitch(choice, None), with_stale_value(with_stale_check(one), failing, flow))
        for choice, one in elsewhere
    ]
    seen.sort(key=lambda one: one[1].left is None)  # two sides say more than an order
    return _first_told(trials, seen, _ELSEWHERE.format(why), only_proved=True)


def _of_outdated_check(trials: OrderTrials, switch: GuiltySwitch) -> Explanation:
    """The story of a check that a wait for a lock, and no choice, parted from its act."""
    twins = trials.twins
    if twins.failing_hang is not None:
        return Explanation(None)
    found = outdated_check(twins.failing, twins.passing, trials.ending) or refused_act(twins, trials.ending)
    if found is None:
        return Explanation(None)
    story = tell_race(found, twins.failing, twins.passing, trials.ending, ())
    if story is None:
        return Explanation(None)
    # Which order would help was not tried, and the passing run may not come to both.
    story = story._replace(passes="", passing=(), inferred=(*story.inferred, OUTDATED))
    return Explanation(story, chain=_chain(trials, found, story), conflict=found)


def _first_told(
    trials: OrderTrials,
    conflicts: Iterable[tuple[GuiltySwitch, Conflict]],
    inferred: str,
    *,
    only_proved: bool = False,
) -> Explanation:
    """The story of the first of some conflicts that nothing speaks against, or that is proved."""
    failing, passing = trials.twins.failing, trials.twins.passing
    for switch, conflict in conflicts:
        try:
            _, links = trials.links(switch, conflict)
        except KeyboardInterrupt:
            return Explanation(None, interrupted=True)
        except ReplayDDError:
            return Explanation(None)
        story = tell_race(conflict, failing, passing, trials.ending, links.proved)
        if story is None or (only_proved and not links.proved) or any(link.disproved for link in links.tried):
            continue
        story = as_tried(story._replace(inferred=(*story.inferred, inferred)), links)
        return Explanation(story, links=links, chain=_chain(trials, conflict, story), conflict=conflict)
    return Explanation(None)


def _chain(trials: OrderTrials, conflict: Conflict, story: Story) -> Chain:
    twins, ending = trials.twins, trials.ending
    if twins.failing_flow is None or twins.passing_flow is None or ending.deadlock:
        return NO_CHAIN
    failing = Dependences(twins.failing_flow, twins.failing)
    passing = Dependences(twins.passing_flow, twins.passing)
    try:
        return follow_chain(failing, passing, conflict, ending, trials.found.passing.ending, story)
    except Exception as error:  # the story stands without
        return NO_CHAIN._replace(lost=f"what was seen cannot be told ({type(error).__name__}: {error})")

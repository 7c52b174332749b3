"""The story of a deadlock: who has what since where, who waits for it, and what the passing run did instead."""

from __future__ import annotations

from replay_dd.schedules.hang import DEADLOCK, Hang, HangStep, HangThing, HangThread
from replay_dd.schedules.model import Ending, Place
from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.observed.observation import Access, StackFrame, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.hanging import verdict_of
from replay_dd.schedules.story.stop_flag import ends_no_wait
from replay_dd.schedules.story.story import HangTold, Step, Story, Thing, Turn, path_of
from replay_dd.schedules.story.undone_items import waits_until_done
from replay_dd.schedules.story.verdict import Verdict, Wait

_MOST_PASSING = 6
_VAGUE = (kinds.ORDER_VIOLATION, kinds.DEADLOCK, kinds.MISSED_NOTIFICATION, kinds.EARLY_TIMEOUT)
_UNKNOWN = Value("?", "", -1)


def tell_deadlock(failing: Hang, passing: Hang | None, ending: Ending, flow: Flow | None = None) -> Story:
    """The story of a run in which all threads wait.

    Args:
        failing: what is known of it.
        passing: what happened to locks and the like in the passing run; None if that was not kept.
        ending: how the failing run ended.
        flow: how values flowed through the failing run; None if that was not followed.
    """
    verdict = verdict_of(failing, ending, flow, passing)
    turns = _turns(failing, verdict)
    same = [] if passing is None else _passing(failing, passing, verdict)
    if len({thread for thread, _ in same}) < 2 or not _shows_order(verdict, same):
        same = []  # there is no order in what one thread does, or in one lock
    explained = {wait.thread.thread for wait in verdict.waits}
    others = [one for one in failing.threads if one.state == "waits" and one.thread not in explained]
    return Story(
        kind=verdict.kind,
        things=tuple(Thing(thing.called, described(thing)) for thing in verdict.things),
        summary=verdict.summary,
        turns=tuple(turns),
        passes=_passes(verdict, turns) if same else "",
        passing=tuple(same),
        waits=tuple(f"thread {one.thread} {waits_for(failing, one)}" for one in others),
        inferred=(*_why_this_kind(failing), *verdict.inferred),
        hang=HangTold(failing, verdict),
    )


def _why_this_kind(hang: Hang) -> tuple[str, ...]:
    return ("the kind, from who holds what and who waits for it",) if hang.why == DEADLOCK else ()


def with_race(story: Story, race: Story | None) -> Story:
    """The story of a deadlock with that of the race that leads there, if one was seen."""
    if race is None or story.hang is None or story.kind in (kinds.LOCK_ORDER, kinds.SELF_DEADLOCK):
        return story
    is_missed = story.kind == kinds.MISSED_NOTIFICATION
    if is_missed and race.kind == kinds.ORDER_VIOLATION:
        return story  # which notification was missed says more than that two calls come in some order
    names = {_last(thing.name) for thing in story.things}
    early = race.kind == kinds.EARLY_TIMEOUT and story.kind == kinds.NEVER_COMES
    lost = race.kind == kinds.MISSED_NOTIFICATION and story.kind in (kinds.NEVER_COMES, kinds.COMMUNICATION)
    unheard = race.kind == kinds.OUTSIDE_LOOP
    verdict = story.hang.verdict
    if unheard or ends_no_wait(race.help):
        verdict = verdict._replace(help=race.help if unheard else "")
    # It was notified, or need not have been: what it looks at in its loop is wrong.
    spoilt = is_missed and race.kind == kinds.LOST_UPDATE
    kind = kinds.NEVER_COMES if spoilt else race.kind if early or lost or unheard else story.kind
    return story._replace(
        kind=kind,
        things=(*story.things, *(thing for thing in race.things if _last(thing.name) not in names)),
        turns=race.turns,
        passes=race.passes,
        passing=race.passing,
        locks=race.locks,
        inferred=(*story.inferred, *race.inferred[1:]),
        help="" if unheard else race.help,
        hang=story.hang._replace(
            verdict=verdict,
            led_by=race.summary,
            led_by_kind=_kind_of_cause(race.kind, lost or early or unheard or (is_missed and not spoilt)),
        ),
    )


def _kind_of_cause(kind: str, is_told: bool) -> str:
    """The kind of the race that leads to a hang, where that says more than that some order is wrong."""
    return "" if is_told or kind in _VAGUE else kind


def _last(name: str) -> str:
    """The last part of a name: one object may be reached by several ways."""
    return name.rpartition(".")[2]


def described(thing: HangThing) -> str:
    """What a thing is, such as ``Lock, attribute of one Account``."""
    return f"{thing.kind}, {thing.what}" if thing.what else thing.kind


def waits_for(hang: Hang, thread: HangThread) -> str:
    """What a thread waits for, with the name of the thing."""
    thing = hang.thing(thread.thing)
    if thing is None or not thing.name:
        return thread.explanation
    holder = f", which thread {thing.holders[0]} holds" if thing.kind in ("Lock", "RLock") and thing.holders else ""
    state = f" ({thing.state})" if thing.kind not in ("Lock", "RLock") and thing.state else ""
    words = {
        "Condition": "to be notified of",
        "Barrier": "for other threads at",
        "Future": "for the result of",
    }.get(thing.kind, "for")
    if waits_until_done(thread):
        return f"waits until all items of {thing.called} are done"
    if "Queue" in thing.kind:
        words = "for room in" if thing.state.startswith("full") else "for an item in"
    return f"waits {words} {thing.called}{holder}{state}"


def took(hang: Hang, thread: HangThread, thing: HangThing) -> HangStep | None:
    """The step with which a thread took a lock that it has."""
    own = [step for step in hang.steps_of(thing.number) if step.thread == thread.thread and step.does == "takes"]
    return next((step for step in reversed(own) if step.stack == thing.taken), own[-1] if own else None)


def _turns(hang: Hang, verdict: Verdict) -> list[Turn]:
    told: list[HangStep] = list(verdict.steps)
    for wait in verdict.waits:
        for number in wait.thread.holds:
            thing = hang.thing(number)
            step = took(hang, wait.thread, thing) if thing in verdict.things and thing is not None else None
            if step is not None and step not in told:
                told.append(step)
        last = _last_wait(hang, wait)
        if last is not None and last not in told:
            told.append(last)
    told.sort(key=lambda step: step.global_time)
    if verdict.kind in (kinds.LOCK_ORDER, kinds.HOLD_AND_WAIT, kinds.COMMUNICATION):
        first = {step.thread: step.global_time for step in reversed(told)}
        told.sort(key=lambda step: (first[step.thread], step.global_time))
    turns: list[Turn] = []
    for step in told:
        access = _access(hang, step)
        if access is None:
            continue
        words = _words(hang, step)
        if turns and turns[-1].thread == step.thread:
            turns[-1] = turns[-1]._replace(steps=(*turns[-1].steps, Step((access,), words)))
        else:
            turns.append(Turn(step.thread, path_of(access), (Step((access,), words),)))
    return turns


def _last_wait(hang: Hang, wait: Wait) -> HangStep | None:
    if wait.thing is None:
        return None
    own = [step for step in hang.steps_of(wait.thing.number) if step.thread == wait.thread.thread]
    last = max((step.global_time for step in hang.steps), default=0)
    if own and own[-1].does == "waits":
        return own[-1]
    # The thing was still free when it asked for it, and others took it before its turn came.
    thread = wait.thread
    return HangStep(wait.thing.number, thread.thread, 0, last, "waits", thread.stack, thread.holds, "")


def _words(hang: Hang, step: HangStep) -> str:
    thing = hang.thing(step.thing)
    name = thing.called if thing is not None else "?"
    if step.does == "waits":
        thread = hang.thread(step.thread)
        if thread is not None and thread.thing == step.thing:
            return waits_for(hang, thread)
        return f"waits for {name}"
    told = f" ({'nobody waits for it' if step.detail == 'nobody waits' else step.detail})" if step.detail else ""
    return f"{step.does} {name}{told}"


def _access(hang: Hang, step: HangStep) -> Access | None:
    stack = hang.stack(step.stack)
    thing = hang.thing(step.thing)
    frame = next((frame for frame in stack if frame.counted), None)
    if frame is None or thing is None:
        return None
    sort = "lock" if thing.kind in ("Lock", "RLock") else "object"
    return Access(
        number=step.global_time,
        thread=step.thread,
        time=step.time,
        global_time=step.global_time,
        place=Place(frame.file, frame.path, frame.line, 0, frame.function, "", False),
        stack=tuple(StackFrame(one.file, one.path, one.line, one.function, one.counted) for one in stack),
        does=step.does,
        thing=(sort, step.thing, ""),
        holder_type=thing.kind,
        name=thing.called,
        reads=False,
        writes=True,
        old=_UNKNOWN,
        new=_UNKNOWN,
        detail=step.detail,
        tested=False,
        held=step.held,
    )


def _passes(verdict: Verdict, turns: list[Turn]) -> str:
    if verdict.kind == kinds.LOCK_ORDER and len(verdict.waits) == 2 and len(turns) > 1:
        return f"if thread {turns[0].thread} has both locks before thread {turns[-1].thread} takes one"
    return "in this order:"


def _passing(failing: Hang, passing: Hang, verdict: Verdict) -> list[tuple[str, Step]]:
    """What happened to the same things in the passing run."""
    wanted = {(thing.kind, thing.called) for thing in verdict.things}
    numbers = {thing.number for thing in passing.things if (thing.kind, thing.called) in wanted}
    threads = {step.thread for thing in verdict.things for step in failing.steps_of(thing.number)}
    missing = {(step.thread, name) for step, name in _told(failing, verdict)}
    found = []
    for step in passing.steps:
        if step.thing not in numbers or step.thread not in threads or not missing:
            continue
        then = _next_own(passing, step)
        if then is not None and (then.does == "waits" or (step.does == "waits" and then.does == "takes")):
            continue  # one of a wait and what comes of it is enough
        access = _access(passing, step)
        if access is not None:
            missing.discard((step.thread, access.name))
            found.append((step.thread, Step((access,), _words(passing, step))))
    return found[:_MOST_PASSING]


def _shows_order(verdict: Verdict, same: list[tuple[str, Step]]) -> bool:
    """Whether the passing run tells of all the locks whose order matters; it knows nothing of those of the library."""
    told = {access.name for _, step in same for access in step.accesses}
    return verdict.kind != kinds.LOCK_ORDER or all(thing.called in told for thing in verdict.things)


def _told(hang: Hang, verdict: Verdict) -> list[tuple[HangStep, str]]:
    """The steps of the threads that explain a hang, with the names of the things."""
    threads = {wait.thread.thread for wait in verdict.waits}
    return [
        (step, thing.called)
        for thing in verdict.things
        for step in hang.steps_of(thing.number)
        if step.thread in threads
    ]


def _next_own(hang: Hang, step: HangStep) -> HangStep | None:
    """What the same thread does next to the same thing, if that is in the same call."""
    own = [one for one in hang.steps_of(step.thing) if one.thread == step.thread and one.time > step.time]
    return own[0] if own and own[0].stack == step.stack else None

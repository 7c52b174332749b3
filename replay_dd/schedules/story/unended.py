"""What kind of hang it is where threads wait for what no thread that is left will do.

Rules of this module:

* An item that nobody puts, an event that nobody sets: the reason lies in the past. So it is told what happened to the
  object before, and how the threads ended that did something to it.
"""

from __future__ import annotations

from replay_dd.schedules.hang import TIME_LIMIT, Hang, HangFrame, HangStep, HangThing
from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.outside_loop import sleeps_with_work
from replay_dd.schedules.story.undone_items import of_undone_items, waits_until_done
from replay_dd.schedules.story.verdict import ENDS_WAIT, Verdict, Wait, ended, how_died, own_calls, own_name, things_of
from replay_dd.schedules.story.wait_loops import waits_in_loop
from replay_dd.schedules.story.way_out import WayOut, decides_to_release, never_releases, returns_in_one_way, way_out_of
from replay_dd.schedules.story.words import listed, short_file

_QUEUES = ("Queue", "SimpleQueue", "LifoQueue", "PriorityQueue")
_SEMAPHORES = ("Semaphore", "BoundedSemaphore")
_EXPLAINED = (*_QUEUES, *_SEMAPHORES, "Condition", "Event", "Barrier", "Future")
ON_EXCEPTION = "also when an exception leaves"
WAKE_ALL = "call `notify_all()`"
LOOK_FIRST = "wait in a loop that looks at the state first"


def of_roots(hang: Hang, waits: list[Wait], ending: Ending, flow: Flow | None = None) -> Verdict:
    """What kind of hang it is where no circle of threads explains it; arguments as for ``verdict_of``."""
    waiting = {wait.thread.thread for wait in waits}
    roots = [wait for wait in waits if not (wait.known and set(wait.on) & waiting)]
    # A worker of a pool that stands idle in library code waits for ever, and explains nothing.
    roots.sort(
        key=lambda wait: (
            wait.thing is None,
            not own_calls(hang, wait.thread.stack),
            wait.thing is not None and wait.thing.kind not in _EXPLAINED,
            wait.thread.thread,
        )
    )
    if not roots:
        return Verdict(kinds.DEADLOCK, tuple(waits), things_of(waits), "All threads wait.")
    for wait in roots:
        if wait.thing is not None:
            same = tuple(other for other in roots if other.thing == wait.thing)
            return _of_thing(hang, same, wait.thing, ending, flow)
    outside = tuple(wait for wait in roots if wait.thing is None)
    words = "; ".join(f"thread {wait.thread.thread} {wait.thread.explanation}" for wait in outside)
    sentence = f"{words[:1].upper()}{words[1:]}."
    loops = [wait.thread.thread for wait in outside if wait.thread.runs_loop]
    if loops and hang.why != TIME_LIMIT:
        verb = "runs an event loop, which sleeps" if len(loops) == 1 else "run event loops, which sleep"
        unseen = any(sleeps_with_work(wait.thread) for wait in outside)
        why = "another thread gave it work without waking it" if unseen else "no thread that is left wakes it"
        return Verdict(
            kinds.NEVER_COMES,
            outside,
            (),
            f"{_who(loops)} {verb}: {why}.",
            help="use `loop.call_soon_threadsafe()` or `run_coroutine_threadsafe()` from another thread: "
            "`put_nowait()`, `set()`, `set_result()` and `call_soon()` of asyncio wake no loop and are not thread-safe",
        )
    if hang.why == TIME_LIMIT:
        own = any("child" in wait.thread.explanation for wait in outside)
        text = "read what a child writes while it runs (`communicate()`), or it waits for room in its pipe for ever"
        return Verdict(
            kinds.WAITS_OUTSIDE,
            outside,
            (),
            f"{sentence} That did not come until the time limit.",
            help=text if own else "give that wait a time-out of its own, and say what should happen then",
        )
    if len(outside) > 1:
        sentence += " Each waits for what another one would send only after its own wait."
    return Verdict(kinds.COMMUNICATION if len(outside) > 1 else kinds.NEVER_COMES, outside, (), sentence)


def _of_thing(hang: Hang, waits: tuple[Wait, ...], thing: HangThing, ending: Ending, flow: Flow | None) -> Verdict:
    steps = hang.steps_of(thing.number)
    who = f"{'Threads' if len(waits) > 1 else 'Thread'} {listed(wait.thread.thread for wait in waits)}"
    verb = "wait" if len(waits) > 1 else "waits"
    if thing.kind in ("Condition", "Event"):
        return _of_signal(hang, waits, thing, steps, f"{who} {verb}", ending)
    until_done = tuple(wait for wait in waits if waits_until_done(wait.thread))
    if until_done:
        return of_undone_items(hang, until_done, thing, ending)
    if thing.kind in _QUEUES:
        return _of_queue(hang, waits, thing, steps, f"{who} {verb}", ending)
    if thing.kind in _SEMAPHORES:
        return _of_semaphore(hang, waits, thing, steps, f"{who} {verb}", ending, flow)
    if thing.kind == "Barrier":
        away = sorted({step.thread for step in steps if step.does == "arrives at"} - {w.thread.thread for w in waits})
        came = [step for step in steps if step.thread in away]
        missing = f" Thread {listed(away)} came to it before, but not this time." if away else ""
        return Verdict(
            kinds.SHORT_BARRIER,
            waits,
            (thing,),
            f"{who} {verb} at {thing.called}, where {thing.state}; no other thread will come.{missing}"
            + "".join(how_died(ending, name) for name in away or ended(hang)),
            tuple(came[-3:]),
            help=f"let a thread that leaves tell the others, by `{own_name(thing)}.abort()` on its way out, or make a "
            "barrier for fewer threads",
        )
    if thing.kind == "Future":
        return Verdict(
            kinds.NEVER_COMPLETED,
            waits,
            (thing,),
            f"{who} {verb} for the result of {thing.called}, and {thing.state or 'nobody sets it'}."
            + "".join(how_died(ending, name) for name in ended(hang)),
            tuple(step for step in steps if step.does in ENDS_WAIT),
            help="complete a future on every way, also if an answer comes before the future is known or an exception "
            "stops the one who would complete it",
        )
    return Verdict(
        kinds.DEADLOCK,
        waits,
        (thing,),
        f"Thread {waits[0].thread.thread} {waits[0].thread.explanation}, and nobody ends that.",
    )


def _of_signal(
    hang: Hang, waits: tuple[Wait, ...], thing: HangThing, steps: list[HangStep], who: str, ending: Ending
) -> Verdict:
    waited = [step for step in steps if step.does == "waits" and step.thread == waits[0].thread.thread]
    gave = [step for step in steps if step.does in ENDS_WAIT]
    cleared = [step for step in steps if step.does == "clears"]
    last_wait = waited[-1:]
    if gave:
        last = gave[-1]
        wiped = [step for step in cleared if step.global_time >= last.global_time]
        shown = tuple(sorted({last, *wiped[:1], *last_wait}, key=lambda step: step.global_time))
        if thing.kind == "Event":
            told = f"Thread {last.thread} set it, but thread {wiped[0].thread} cleared it again" if wiped else ""
            at_once = bool(wiped) and _in_one_call(hang, last, wiped[0])
            if at_once:
                told = f"Thread {last.thread} set it and cleared it again at once,"
            return Verdict(
                kinds.MISSED_NOTIFICATION,
                waits,
                (thing,),
                f"{who} for {thing.called} to be set. {told or f'Thread {last.thread} set it'} before that; nobody "
                "sets it any more.",
                shown,
                help=_help_of_pulse(thing)
                if at_once
                else f"clear {thing.called} before looking for work, not after it: what comes meanwhile then sets it "
                "again"
                if wiped
                else "",
            )
        return Verdict(
            kinds.MISSED_NOTIFICATION,
            waits,
            (thing,),
            f"{who} to be notified of {thing.called}. Thread {last.thread} notified it before that"
            f"{_who_waited(steps, waits, last)}; nobody notifies it any more.",
            shown,
            help=_notify_all(hang, waits, thing, last)
            if waits_in_loop(hang, waits[0].thread)
            else f"{LOOK_FIRST}: `while not ...: {own_name(thing)}.wait()`, and "
            "change that state under the same condition before notifying",
        )
    gave_up = [step for step in hang.steps if step.does == "gives up" and step.thread == waits[0].thread.thread]
    before = hang.thing(gave_up[-1].thing) if gave_up else None
    late = f" Its wait for {before.called} had timed out before." if before is not None else ""
    kind = kinds.EARLY_TIMEOUT if late else kinds.NEVER_COMES
    verb = "to be set" if thing.kind == "Event" else "to be notified of"
    words = f"for {thing.called} {verb}" if thing.kind == "Event" else f"{verb} {thing.called}"
    likely = waits[0].on
    could = f" Thread {listed(likely)} could, but waits itself." if likely else ""
    died = "".join(how_died(ending, error.where) for error in ending.exceptions if error.where != "main")
    return Verdict(
        kind,
        waits,
        (thing,),
        f"{who} {words}.{_nobody(hang, 'Nobody ever did that in this run.')}{late}{could}{died}",
        tuple(gave_up[-1:]),
    )


def _in_one_call(hang: Hang, sets: HangStep, clears: HangStep) -> bool:
    """Whether one call of a function sets an event, and then clears it."""
    if sets.thread != clears.thread:
        return False
    ways = [own_calls(hang, step.stack) for step in (sets, clears)]
    callers = [[(frame.path, frame.function, frame.line) for frame in way[:-1]] for way in ways]
    if not all(ways) or callers[0] != callers[1]:
        return False
    first, then = (way[-1] for way in ways)
    return (first.path, first.function) == (then.path, then.function) and first.line < then.line


def _help_of_pulse(thing: HangThing) -> str:
    return (
        f"do not clear {thing.called} right after setting it: who comes to `wait()` only then misses that. Wait by "
        "`Condition.wait_for()` for a state that stays, such as a number that each round raises"
    )


def _notify_all(hang: Hang, waits: tuple[Wait, ...], thing: HangThing, last: HangStep) -> str:
    """Where a notification may have woken a thread that waits for something else: that all must be woken."""
    places = {(frame.path, frame.line) for wait in waits for frame in own_calls(hang, wait.thread.stack)[-1:]}
    if last.does != "notifies" or len(places) < 2:
        return ""
    return (
        f"{WAKE_ALL}, or make one condition for each thing: threads wait for different things at "
        f"{thing.called}, and `notify()` wakes only one, which may be the wrong one"
    )


def _who_waited(steps: list[HangStep], waits: tuple[Wait, ...], last: HangStep) -> str:
    """Who waited for the last notification, in words."""
    if last.detail.startswith("nobody"):
        return ", when nobody waited"
    earlier = {step.thread for step in steps if step.does == "waits" and step.global_time < last.global_time}
    again = sorted({wait.thread.thread for wait in waits} & earlier)
    if not again:
        return ", when others waited"
    return f": {_who(again).lower()} woke up, but wait{'' if len(again) > 1 else 's'} again"


def _who(threads: list[str]) -> str:
    return f"{'Threads' if len(threads) > 1 else 'Thread'} {listed(threads)}"


def _of_queue(
    hang: Hang, waits: tuple[Wait, ...], thing: HangThing, steps: list[HangStep], who: str, ending: Ending
) -> Verdict:
    full = thing.state.startswith("full")
    wanted = "gets from" if full else "puts into"
    others = sorted({step.thread for step in steps if step.does == wanted})
    dead = [error.where for error in ending.exceptions if error.where != "main"]
    died = "".join(how_died(ending, name) for name in dict.fromkeys([*(n for n in others if n in dead), *dead]))
    last = [step for step in steps if step.does == wanted][-1:]
    if full:
        came = f" {_who(others)} took items from it, but will take no more." if others else ""
        return Verdict(
            kinds.NO_CONSUMER,
            waits,
            (thing,),
            f"{who} for room in {thing.called}, which is {thing.state}, and no thread that is left will take one out."
            f"{came}{died}",
            tuple(last),
            help=f"go on taking items out of {thing.called}, or drain it, when an exception stops the work"
            if dead
            else f"end those who take items out of {thing.called} only when all who put some in are done",
        )
    came = f" {_who(others)} put items into it, but will put no more." if others else _nobody(hang, "Nobody ever did.")
    waiters = {wait.thread.thread for wait in waits}
    # What a waiter gets last is what it waits for.
    taken = [step for name in waiters for step in [one for one in steps if _gets(one, name)][:-1]]
    taken += [step for step in steps if step.does == "gets from" and step.thread not in waiters]
    taken.sort(key=lambda step: step.global_time)
    if taken and not others:
        came = f" It had some when the threads began, and thread {taken[-1].thread} took the last one."
    return Verdict(
        kinds.NO_PRODUCER,
        waits,
        (thing,),
        f"{who} for an item in {thing.called}, and no thread that is left will put one in.{came}{died}",
        tuple(last),
        help=f"put the item that ends the wait (a sentinel, or the error) into {thing.called} on every way out of the "
        "producer: in a `finally:`",
    )


def _nobody(hang: Hang, words: str) -> str:
    """That nobody did it, if it is known what the threads did."""
    return f" {words}" if hang.with_history else ""


def _gets(step: HangStep, thread: str) -> bool:
    return step.does == "gets from" and step.thread == thread


def _of_semaphore(
    hang: Hang,
    waits: tuple[Wait, ...],
    thing: HangThing,
    steps: list[HangStep],
    who: str,
    ending: Ending,
    flow: Flow | None,
) -> Verdict:
    taken: dict[str, list[HangStep]] = {}
    for step in steps:
        if step.does == "acquires":
            taken.setdefault(step.thread, []).append(step)
        elif step.does == "releases":
            (taken.get(step.thread) or next((own for own in taken.values() if own), [step])).pop()
    for wait in waits:
        if taken.get(wait.thread.thread):
            taken[wait.thread.thread].pop()  # the one that waits
    kept = [step for own in taken.values() for step in own]
    words = ""
    help_ = f"release {thing.called} on every way out, exceptions too: `with {own_name(thing)}:` or `finally:`"
    for step in kept:
        place = next((frame for frame in hang.stack(step.stack) if frame.counted), None)
        thread = hang.thread(step.thread)
        where = f" at {short_file(place.file)}:{place.line} in {place.function}" if place is not None else ""
        now = {frame.function for frame in hang.stack(thread.stack)} if thread is not None else set()
        how = "has ended since" if thread is None or thread.state == "ended" else ""
        if not how and place is not None and place.function not in now:
            how = "has left that function since"
        left = None if place is None else way_out_of(flow, step, place)
        if left is not None and place is not None:
            left_by = "left that function by an exception" if left.raised else "returned"
            how = f"{left_by} ({short_file(left.file)}:{left.line})"
            if never_releases(place):
                help_ = _where_kept(thing, place, left)
            elif not left.raised and decides_to_release(place, left):
                help_ = ""  # what it has found there is wrong
        words += f" Thread {step.thread} took one{where}" + (f", {how}" if how else "") + " and never released it."
        words += how_died(ending, step.thread)
    return Verdict(
        kinds.LEAKED_PERMIT,
        waits,
        (thing,),
        f"{who} for a permit of {thing.called}, and there is {thing.state}.{words}",
        tuple(kept[-4:]),
        help=help_,
    )


def _where_kept(thing: HangThing, place: HangFrame, left: WayOut) -> str:
    """What would help where a function hands a permit to its caller."""
    if left.raised:
        return (
            f"release {thing.called} {ON_EXCEPTION} {place.function} with a permit: in an `except BaseException:` that "
            "ends with `raise`"
        )
    if returns_in_one_way(place):
        return (
            f"release {thing.called} on every way out of what calls {place.function}, exceptions too: in a `finally:`"
        )
    return (
        f"release {thing.called} before {place.function} returns at {short_file(left.file)}:{left.line}, if its "
        "caller does not do so then"
    )

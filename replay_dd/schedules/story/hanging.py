"""What kind of hang it is, from who waits for what: the circle of threads, or the wait that nobody ends.

Deadlocks as circles in the graph of threads and what they wait for: Coffman, Elphick and Shoshani, "System Deadlocks"
(ACM Computing Surveys, 1971).

Rules of this module:

* An edge of the graph is *known* where the holder of a lock, the thread that is joined, or the worker that runs a task
  is known. Where only the code tells who could end a wait (by putting into a queue, by setting an event), it is
  *inferred*, and used only if no circle of known edges explains the hang.
"""

from __future__ import annotations

from replay_dd.schedules.hang import (
    GARBAGE_COLLECTION,
    NO_PROGRESS,
    SIGNAL_HANDLER,
    TIME_LIMIT,
    Hang,
    HangFrame,
    HangThing,
)
from replay_dd.schedules.model import Ending
from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.death import beginning_with_death
from replay_dd.schedules.story.endless import of_time_limit
from replay_dd.schedules.story.unended import of_roots
from replay_dd.schedules.story.verdict import (
    LOCKS,
    Verdict,
    Wait,
    how_died,
    inferred_circle,
    kind_words,
    own_calls,
    own_name,
    short,
    things_of,
    who_needs,
    why_lost,
)
from replay_dd.schedules.story.words import listed


def verdict_of(hang: Hang, ending: Ending, flow: Flow | None = None, passing: Hang | None = None) -> Verdict:
    """What kind of hang this is.

    Args:
        hang: what is known of it.
        ending: how the run ended, for the exceptions in its threads.
        flow: how values flowed through it; None if that was not followed.
        passing: what happened to locks and the like in a passing run; None if that was not kept.
    """
    return beginning_with_death(_verdict_of(hang, ending, flow), hang, passing, ending)


def _verdict_of(hang: Hang, ending: Ending, flow: Flow | None) -> Verdict:
    waits = waits_of(hang)
    if hang.why == NO_PROGRESS:
        return of_time_limit(hang, waits, ending)
    circle = _circle([wait for wait in waits if wait.known])
    verdict = (
        _of_pool(waits)
        or _of_loop(waits)
        or (_of_circle(hang, circle) if circle else None)
        or _of_lost_lock(hang, waits, ending)
    )
    if verdict is not None:
        return verdict
    if hang.why == TIME_LIMIT:
        return of_time_limit(hang, waits, ending)
    circle = _circle(waits)
    if circle and not _all_for_one(circle):
        return _of_circle(hang, circle)
    return of_roots(hang, waits, ending, flow)


def waits_of(hang: Hang) -> list[Wait]:
    """Every thread that waits, with the threads that would have to end that."""
    alive = {thread.thread for thread in hang.threads if thread.state != "ended"}
    found = []
    for thread in hang.threads:
        if thread.state != "waits":
            continue
        thing = hang.thing(thread.thing)
        if thread.end_of:
            found.append(Wait(thread, None, (thread.end_of,), known=True))
        elif thing is None:
            found.append(Wait(thread, None, (), known=False))
        elif thing.holders:
            found.append(Wait(thread, thing, tuple(name for name in thing.holders if name in alive), known=True))
        else:
            likely = sorted(set(thing.likely) & alive - {thread.thread})
            found.append(Wait(thread, thing, tuple(likely), known=False))
    return found


def _circle(waits: list[Wait]) -> list[Wait]:
    """Waits of which each is for a thread whose wait comes next; the shortest such circle."""
    by_thread = {wait.thread.thread: wait for wait in waits}
    best: list[Wait] = []
    for first in waits:
        ways = [[first]]
        seen = {first.thread.thread}
        while ways:
            way = ways.pop(0)
            if best and len(way) >= len(best):
                break
            if first.thread.thread in way[-1].on:
                best = way
                break
            for name in way[-1].on:
                if name in by_thread and name not in seen:
                    seen.add(name)
                    ways.append([*way, by_thread[name]])
    return best


def _all_for_one(circle: list[Wait]) -> bool:
    """Whether several threads wait for the same thing: then none of them will bring it for another one."""
    return len(circle) > 1 and len({wait.thing.number for wait in circle if wait.thing is not None}) == 1


def _of_pool(waits: list[Wait]) -> Verdict | None:
    """Tasks that wait for other tasks of their own pool."""
    starved = [wait for wait in waits if wait.thing is not None and "in the queue of the pool" in wait.thing.state]
    starved = [wait for wait in starved if wait.thread.thread in wait.on]
    if not starved:
        return None
    workers = sorted({name for wait in starved for name in wait.on})
    inside = [wait for wait in waits if wait.thread.thread in workers]
    several = f"All {len(workers)} workers of the pool" if len(workers) > 1 else "The only worker of the pool"
    one = len(workers) == 1
    return Verdict(
        kinds.STARVED_POOL,
        tuple(inside),
        things_of(starved),
        f"{several} ({listed(workers)}) {'waits' if one else 'wait'} for tasks that stand in the pool's own queue: no "
        "worker is left to run them.",
        help="give the inner tasks another pool, or let the outer one return before it needs their results: a task "
        f"must not wait for a task of its own pool. {len(workers) + 1} workers would only move the limit.",
    )


def _of_loop(waits: list[Wait]) -> Verdict | None:
    """An event loop whose own thread blocks on what only that loop can do."""
    for wait in waits:
        name = wait.thread.thread
        if wait.thread.runs_loop and wait.thing is not None and wait.on == (name,):
            others = [other for other in waits if other is not wait and other.on == (name,)]
            return Verdict(
                kinds.BLOCKED_LOOP,
                (wait, *others),
                things_of([wait]),
                f"Thread {name} runs an event loop, and blocks in it until a coroutine of that same loop is done; the "
                "loop can only run that coroutine when this call returns.",
                help=f"`await` instead of waiting for {wait.thing.called} in a coroutine of that loop, or wait for it "
                "in another thread",
            )
    return None


def _of_circle(hang: Hang, circle: list[Wait]) -> Verdict:
    start = circle.index(min(circle, key=lambda wait: wait.thread.thread))
    circle = [*circle[start:], *circle[:start]]
    names = [wait.thread.thread for wait in circle]
    all_locks = all(wait.thing is not None and wait.thing.kind in LOCKS for wait in circle)
    inferred = () if all(wait.known for wait in circle) else (inferred_circle(circle),)
    if len(circle) == 1:
        return _of_self(hang, circle[0])
    things = things_of(circle)
    if all_locks:
        return Verdict(
            kinds.LOCK_ORDER,
            tuple(circle),
            (things[-1], *things[:-1]),  # the first thread has the one that the last waits for
            _circle_in_words(hang, circle),
            help=_one_order(hang, circle),
        )
    if any(thing.kind == "import lock" for thing in things):
        modules = listed(thing.called for thing in things if thing.kind == "import lock")
        return Verdict(
            kinds.IMPORT,
            tuple(circle),
            things,
            f"The threads {listed(sorted(names))} wait for each other, and for {modules} to be done: a module that is "
            "being imported can be used by no other thread until its code has run.",
            help="start the thread from a function, or let it import nothing that is still being imported: a module "
            "must not wait for a thread while it is imported",
        )
    held = [hang.thing(number) for wait in circle for number in wait.thread.holds]
    locks = tuple(dict.fromkeys(thing for thing in held if thing is not None and thing in things))
    if locks:
        holder = next(wait for wait in circle if locks[0].number in wait.thread.holds)
        return Verdict(
            kinds.HOLD_AND_WAIT,
            tuple(circle),
            tuple(dict.fromkeys((*locks, *things))),
            f"Thread {holder.thread.thread} holds {locks[0].called} while it {short(holder)}; thread "
            f"{who_needs(circle, locks[0])} cannot get on without that lock.",
            help=f"release {locks[0].called} before the wait: take what is needed under the lock, wait without it",
            inferred=inferred,
        )
    if all(wait.thread.end_of for wait in circle):
        return Verdict(
            kinds.JOIN_CIRCLE,
            tuple(circle),
            (),
            f"The threads {listed(sorted(names))} wait for each other to end.",
            help="leave the joining of both to the thread that started them",
        )
    return Verdict(
        kinds.COMMUNICATION,
        tuple(circle),
        things,
        f"The threads {listed(sorted(names))} wait for each other: each for something that the next one would do only "
        "after its own wait.",
        inferred=inferred,
    )


def _circle_in_words(hang: Hang, circle: list[Wait]) -> str:
    """Who has what since where, and waits for what where."""
    told = []
    for wait, before in zip(circle, [circle[-1], *circle[:-1]], strict=True):
        owned, wanted = before.thing, wait.thing
        if owned is None or wanted is None:
            continue
        since = lock_taken_at(hang, owned)
        here = _place_in_words(own_calls(hang, wait.thread.stack)[-1:])
        told.append(f"thread {wait.thread.thread} has {owned.called}{since} and waits for {wanted.called}{here}")
    text = "; ".join(told)
    return f"{text[:1].upper()}{text[1:]}: they take the locks in different orders."


def lock_taken_at(hang: Hang, lock: HangThing) -> str:
    """Where a lock was taken, as words with a space before them; empty if that is not known."""
    return _place_in_words(own_calls(hang, lock.taken)[-1:])


def _place_in_words(frames: list[HangFrame]) -> str:
    return "".join(f" ({frame.file.rpartition('/')[2]}:{frame.line})" for frame in frames)


def is_taken_by_handler(hang: Hang, wait: Wait) -> bool:
    """Whether the handler of a signal waits for a lock that the code has which it interrupted.

    Args:
        hang: what is known of the end.
        wait: of a thread for a lock that it has itself.
    """
    return _is_taken_after(SIGNAL_HANDLER, hang, wait)


def is_taken_by_finalizer(hang: Hang, wait: Wait) -> bool:
    """The same for what the garbage collector calls."""
    return _is_taken_after(GARBAGE_COLLECTION, hang, wait)


def _is_taken_after(interruption: str, hang: Hang, wait: Wait) -> bool:
    if wait.thing is None:
        return False
    stacks = (hang.stack(number) for number in (wait.thread.stack, wait.thing.taken))
    waits, took = (sum(frame.function == interruption for frame in stack) for stack in stacks)
    return waits > took


def _finalizer(stack: tuple[HangFrame, ...]) -> str:
    """The outermost function of the program that the last garbage collection called, in words."""
    called = [frame.function for frame in stack]
    inside = [frame for frame in stack[: called.index(GARBAGE_COLLECTION)] if frame.counted]
    return f"`{inside[-1].function}`{_place_in_words(inside[-1:])}" if inside else "a finalizer"


def _of_self(hang: Hang, wait: Wait) -> Verdict:
    thread, thing = wait.thread, wait.thing
    if thing is None:
        return Verdict(kinds.COMMUNICATION, (wait,), (), f"Thread {thread.thread} waits for itself.")
    if thing.kind not in LOCKS:
        return Verdict(
            kinds.COMMUNICATION,
            (wait,),
            (thing,),
            f"Thread {thread.thread} {short(wait)}, and it would have to bring that about itself.",
        )
    if why_lost(hang, thing):
        return _leaked(hang, (wait,), thing, thread.thread, "")
    if is_taken_by_handler(hang, wait):
        return Verdict(
            kinds.SELF_DEADLOCK,
            (wait,),
            (thing,),
            f"Thread {thread.thread} waits for {thing.called}, which it holds itself: a signal came while it had it, "
            f"and the handler takes it, too. A {thing.kind} cannot be taken twice.",
            help="let the handler only set a flag, or put something into a `queue.SimpleQueue`, and do the work "
            "outside of it; an RLock would let it in, but into the middle of what the lock guards",
        )
    if is_taken_by_finalizer(hang, wait):
        return Verdict(
            kinds.SELF_DEADLOCK,
            (wait,),
            (thing,),
            f"Thread {thread.thread} waits for {thing.called}, which it holds itself: garbage was collected while it "
            f"had it, and that called {_finalizer(hang.stack(thread.stack))}, which takes it, too. "
            f"A {thing.kind} cannot be taken twice.",
            help="take no lock in a finalizer: let it only put what is to be done into a `queue.SimpleQueue`, and do "
            f"that where {thing.called} is taken anyway; an RLock would let it in, but into the middle of what the "
            "lock guards",
        )
    return Verdict(
        kinds.SELF_DEADLOCK,
        (wait,),
        (thing,),
        f"Thread {thread.thread} waits for {thing.called}, which it holds itself: {kind_words(thing)} cannot be taken "
        "twice.",
        help=f"split the inner function into one that expects {thing.called} to be held and one that takes it; or make "
        "it an RLock",
    )


def _of_lost_lock(hang: Hang, waits: list[Wait], ending: Ending) -> Verdict | None:
    """A lock whose holder has ended, or has left the function that took it."""
    for wait in waits:
        thing = wait.thing
        if thing is not None and thing.kind in LOCKS and thing.holders and why_lost(hang, thing):
            return _leaked(hang, (wait,), thing, thing.holders[0], how_died(ending, thing.holders[0]))
    return None


def _leaked(hang: Hang, waits: tuple[Wait, ...], thing: HangThing, holder: str, died: str) -> Verdict:
    return Verdict(
        kinds.LEAKED_LOCK,
        waits,
        (thing,),
        f"Nobody will release {thing.called}: thread {holder} took it and {why_lost(hang, thing)}.{died}",
        tuple(step for step in hang.steps_of(thing.number) if step.does == "takes")[-2:],
        help=f"release {thing.called} on every way out of the function that takes it: `with {own_name(thing)}:`",
    )


def _one_order(hang: Hang, circle: list[Wait]) -> str:
    names = [wait.thing.called for wait in circle if wait.thing is not None]
    text = f"take {' before '.join([names[-1], *names[:-1]])} everywhere, or guard them by one lock"
    for wait in circle:
        for number in wait.thread.holds:
            lock = hang.thing(number)
            call = None if lock is None or not _is_own(hang, lock.taken) else _call_under(hang, wait, lock)
            if lock is not None and lock.called in names and call is not None:
                return f"{text}; or release {lock.called} before the call at {call.file}:{call.line}"
    return text


def _is_own(hang: Hang, stack: int) -> bool:
    """Whether a line of the program takes a lock, perhaps through a condition; not the library for its own purposes."""
    frames = [frame for frame in hang.stack(stack) if frame.counted or not frame.function.startswith("Condition.")]
    return bool(frames) and frames[0].counted


def _call_under(hang: Hang, wait: Wait, lock: HangThing) -> HangFrame | None:
    """The line at which the function that took a lock calls others, one of which waits; None if it waits itself."""
    then, now = own_calls(hang, lock.taken), own_calls(hang, wait.thread.stack)
    if not then or len(now) < len(then) or now[len(then) - 1].function != then[-1].function:
        return None
    return None if len(now) == len(then) and _is_own(hang, wait.thread.stack) else now[len(then) - 1]

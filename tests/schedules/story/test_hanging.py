"""What kind of hang it is said to be, from who waits for what: over hangs put together by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from replay_dd.schedules.hang import NO_STACK, Hang, HangFrame, HangStep, HangThing, HangThread
from replay_dd.schedules.model import Ending, Frame, UncaughtException
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.deadlock import waits_for
from replay_dd.schedules.story.hanging import verdict_of, waits_of
from replay_dd.schedules.story.verdict import Verdict, why_lost

ENDING = Ending(status=125)


def frame(line: int, function: str = "work", counted: bool = True) -> HangFrame:
    return HangFrame("prog.py", "/prog.py", line, function, counted)


STACKS = (
    (frame(10), frame(1, "main")),  # 0: took something here, in `work` called by `main`
    (frame(12), frame(1, "main")),  # 1: the same call, later
    (frame(30, "other"), frame(2, "main")),  # 2: another call
    (frame(40, "inner"), frame(12), frame(1, "main")),  # 3: deeper in the first call
    (frame(5, "Guard.__enter__"), frame(10), frame(1, "main")),  # 4: taken on behalf of `work`
    (frame(10), frame(3, "main")),  # 5: another call of `work`
    (frame(9, "Handler.acquire", counted=False), frame(12), frame(1, "main")),  # 6: the library, called by `work`
    (frame(9, "Condition.__enter__", counted=False), frame(10), frame(1, "main")),  # 7: a condition's lock
    (frame(9, "Condition.__enter__", counted=False), frame(12), frame(1, "main")),  # 8: another one's
)


def thread(name: str, thing: int = -1, *, end_of: str = "", stack: int = 1, holds: tuple[int, ...] = ()) -> HangThread:
    state = "waits" if thing >= 0 or end_of else "ended"
    return HangThread(name, "", state, thing, end_of, "waits for it", stack, NO_STACK, holds, runs_loop=False)


def thing(
    number: int, kind: str, *holders: str, state: str = "", likely: tuple[str, ...] = (), taken: int = 0
) -> HangThing:
    return HangThing(number, kind, f"thing{number}", "global variable", "prog.py", 1, state, holders, likely, taken)


def step(of: int, by: str, does: str, at: int, detail: str = "", stack: int = 0) -> HangStep:
    return HangStep(of, by, at, at, does, stack, (), detail)


def hang(
    *parts: HangThread | HangThing | HangStep, why: str = "deadlock", turns: tuple[tuple[str, str, int], ...] = ()
) -> Hang:
    return Hang(
        why,
        True,
        tuple(part for part in parts if isinstance(part, HangThread)),
        tuple(part for part in parts if isinstance(part, HangThing)),
        tuple(part for part in parts if isinstance(part, HangStep)),
        STACKS,
        turns,
    )


def told(*parts: HangThread | HangThing | HangStep, ending: Ending = ENDING) -> Verdict:
    return verdict_of(hang(*parts), ending)


def died(name: str) -> Ending:
    error = UncaughtException(name, "ValueError", "bad\nmore", (Frame("prog.py", 7, "parse", counted=True),))
    return replace(ENDING, exceptions=(error,))


def test_a_circle_begins_with_the_first_thread_and_names_the_locks_in_its_order() -> None:
    verdict = told(
        thread("0.2", 1, holds=(2,)), thread("0.1", 2, holds=(1,)), thing(1, "Lock", "0.1"), thing(2, "RLock", "0.2")
    )
    assert verdict.kind == kinds.LOCK_ORDER
    assert [wait.thread.thread for wait in verdict.waits] == ["0.1", "0.2"]
    assert verdict.summary == (
        "Thread 0.1 has thing1 (prog.py:10) and waits for thing2 (prog.py:12); thread 0.2 has thing2 (prog.py:10) and "
        "waits for thing1 (prog.py:12): they take the locks in different orders."
    )
    assert [one.called for one in verdict.things] == ["thing1", "thing2"]
    assert verdict.help.startswith("take thing1 before thing2 everywhere")
    assert not verdict.inferred


def test_threads_that_wait_for_the_circle_are_no_part_of_it() -> None:
    verdict = told(
        thread("0", end_of="0.1"),
        thread("0.1", 2, holds=(1,)),
        thread("0.2", 1, holds=(2,)),
        thread("0.3", 1),
        thing(1, "Lock", "0.1"),
        thing(2, "Lock", "0.2"),
    )
    assert [wait.thread.thread for wait in verdict.waits] == ["0.1", "0.2"]


def test_the_call_to_make_without_the_lock_is_named() -> None:
    verdict = told(
        thread("0.1", 2, holds=(1,), stack=3),
        thread("0.2", 1, holds=(2,), stack=2),
        thing(1, "Lock", "0.1"),
        thing(2, "Lock", "0.2", taken=2),
    )
    assert verdict.help.endswith("or release thing1 before the call at prog.py:12")


@pytest.mark.parametrize(
    ("taken", "waits", "released"),
    [
        (0, 6, True),  # `work` calls the library
        (7, 6, True),
        (6, 3, False),  # what the library took, nobody can release
        (0, 1, False),  # `work` takes both
        (7, 8, False),
    ],
)
def test_only_what_the_program_took_before_a_call_can_be_released(taken: int, waits: int, released: bool) -> None:
    verdict = told(
        thread("0.1", 2, holds=(1,), stack=waits),
        thread("0.2", 1, holds=(2,), stack=2),
        thing(1, "Lock", "0.1", taken=taken),
        thing(2, "Lock", "0.2", taken=2),
    )
    assert verdict.kind == kinds.LOCK_ORDER
    assert ("release thing1 before the call at prog.py:12" in verdict.help) is released


def test_a_lock_that_is_taken_twice_is_a_self_deadlock() -> None:
    verdict = told(thread("0.1", 1, holds=(1,), stack=3), thing(1, "Lock", "0.1"))
    assert verdict.kind == kinds.SELF_DEADLOCK
    assert "cannot be taken twice" in verdict.summary


@pytest.mark.parametrize(
    ("taken", "stack", "lost"),
    [
        (0, 1, ""),  # in the same call
        (0, 3, ""),  # deeper in it
        (0, 2, "has left work since"),  # in another call
        (0, 5, "has left work since"),  # in another call of the same function
        (0, 0, "came to prog.py:10 again"),  # at the same line again
        (4, 1, ""),  # what takes it for the caller may be left
        (4, 2, "has left work since"),
    ],
)
def test_a_lock_is_lost_if_its_holder_has_left_the_call_that_took_it(taken: int, stack: int, lost: str) -> None:
    lock = thing(1, "Lock", "0.1", taken=taken)
    found = why_lost(hang(thread("0.1", 1, holds=(1,), stack=stack), lock), lock)
    assert lost in found
    assert bool(found) == bool(lost)


def test_a_lock_of_a_thread_that_ended_is_lost_and_its_exception_is_told() -> None:
    lock = thing(1, "Lock", "0.1", state="thread 0.1 has it and has ended")
    verdict = told(thread("0.2", 1), thread("0.1"), lock, step(1, "0.1", "takes", 3), ending=died("0.1"))
    assert verdict.kind == kinds.LEAKED_LOCK
    assert "ended thread 0.1: ValueError: bad at prog.py:7 in parse" in verdict.summary
    assert [one.time for one in verdict.steps] == [3]


def test_a_thread_that_joins_one_that_needs_its_lock_holds_and_waits() -> None:
    verdict = told(thread("0", end_of="0.1", holds=(1,)), thread("0.1", 1), thing(1, "Lock", "0"))
    assert verdict.kind == kinds.HOLD_AND_WAIT
    assert verdict.summary.startswith("Thread 0 holds thing1 while it waits for thread 0.1 to end; thread 0.1 cannot")
    assert not verdict.inferred


def test_a_wait_that_only_code_would_end_makes_a_circle_that_is_inferred() -> None:
    parts = [thread("0", 2, holds=(1,)), thread("0.1", 1), thing(1, "Lock", "0")]
    verdict = told(*parts, thing(2, "Queue", state="empty", likely=("0.1",)))
    assert verdict.kind == kinds.HOLD_AND_WAIT
    assert verdict.inferred == ("that thread 0.1 would end the wait for thing2, from its code",)
    assert told(*parts, thing(2, "Queue", state="empty")).kind == kinds.NO_PRODUCER


def test_threads_that_have_ended_end_no_wait() -> None:
    found = waits_of(hang(thread("0", 1), thread("0.1"), thing(1, "Queue", state="empty", likely=("0.1",))))
    assert [wait.on for wait in found] == [()]


def test_threads_that_join_each_other() -> None:
    assert told(thread("0.1", end_of="0.2"), thread("0.2", end_of="0.1")).kind == kinds.JOIN_CIRCLE


def test_a_pool_is_starved_only_if_a_worker_itself_waits_for_the_queue() -> None:
    future = thing(1, "Future", "0.1", state="its task waits in the queue of the pool, and ... wait too")
    assert told(thread("0.1", 1), future).kind == kinds.STARVED_POOL
    verdict = told(thread("0", 1), thread("0.1", 2), future, thing(2, "Event", state="not set"))
    assert verdict.kind == kinds.NEVER_COMES


def test_a_loop_is_blocked_only_by_its_own_thread() -> None:
    future = thing(1, "Future", "0.1", state="its coroutine runs in the event loop of thread 0.1")
    runs = replace(thread("0.1", 1), runs_loop=True)
    assert told(runs, thread("0", 1), future).kind == kinds.BLOCKED_LOOP
    assert told(thread("0.1", 1), future).kind != kinds.BLOCKED_LOOP


def test_an_event_that_was_set_and_cleared_again_is_missed() -> None:
    steps = [step(1, "0.2", "sets", 3), step(1, "0.1", "clears", 5), step(1, "0.1", "waits", 7)]
    verdict = told(thread("0.1", 1), thing(1, "Event", state="not set"), step(1, "0.1", "clears", 1), *steps)
    assert verdict.kind == kinds.MISSED_NOTIFICATION
    assert "Thread 0.2 set it, but thread 0.1 cleared it again before that" in verdict.summary
    assert list(verdict.steps) == steps


def test_an_event_that_is_cleared_right_after_it_was_set_is_no_state_to_wait_for() -> None:
    sets, waits = step(1, "0.2", "sets", 3), step(1, "0.1", "waits", 7)
    event = thing(1, "Event", state="not set")
    pulse = told(thread("0.1", 1), event, sets, step(1, "0.2", "clears", 4, stack=1), waits)
    assert "Thread 0.2 set it and cleared it again at once, before that" in pulse.summary
    assert "Condition.wait_for()" in pulse.help
    for clears in (
        step(1, "0.2", "clears", 4, stack=2),  # in another call
        step(1, "0.1", "clears", 4, stack=1),  # another thread
        step(1, "0.2", "clears", 4, stack=0),  # not further down, but when it comes there again
    ):
        other = told(thread("0.1", 1), event, sets, clears, waits)
        assert "clear thing1 before looking for work" in other.help.replace("`", "")


def test_a_notification_that_came_too_early_is_missed() -> None:
    early, late = step(1, "0.2", "notifies", 3, "nobody waits"), step(1, "0.1", "waits", 7)
    verdict = told(thread("0.1", 1), thread("0.2"), thing(1, "Condition"), early, late)
    assert verdict.kind == kinds.MISSED_NOTIFICATION
    assert verdict.steps == (early, late)
    assert "when nobody waited" in verdict.summary
    later = told(thread("0.1", 1), thing(1, "Condition"), replace(early, detail="2 wait"), late)
    assert "when others waited" in later.summary


def test_who_woke_up_and_waits_again_is_told() -> None:
    steps = [step(1, "0.1", "waits", 2), step(1, "0.2", "notifies all of", 3, "1 wait"), step(1, "0.1", "waits", 7)]
    verdict = told(thread("0.1", 1), thread("0.2", 1), thing(1, "Condition"), *steps)
    assert "Thread 0.2 notified it before that: thread 0.1 woke up, but waits again" in verdict.summary


def test_a_time_out_before_a_wait_that_nobody_ends_is_told() -> None:
    parts = [thread("0.1", 1), thing(1, "Event", state="not set"), thing(2, "Event")]
    assert told(*parts).kind == kinds.NEVER_COMES
    verdict = told(*parts, step(2, "0.1", "gives up", 3))
    assert verdict.kind == kinds.EARLY_TIMEOUT
    assert "Its wait for thing2 had timed out before." in verdict.summary
    assert told(*parts, step(2, "0.2", "gives up", 3)).kind == kinds.NEVER_COMES


def test_a_full_queue_lacks_its_consumer_and_tells_how_that_ended() -> None:
    queue = thing(1, "Queue", state="full: it has 1 of at most 1 items")
    steps = [step(1, "0.2", "gets from", 2), step(1, "0.1", "puts into", 3), step(1, "0.2", "gets from", 4)]
    verdict = told(thread("0.1", 1), thread("0.2"), queue, *steps, ending=died("0.2"))
    assert verdict.kind == kinds.NO_CONSUMER
    assert verdict.summary.startswith("An exception ended thread 0.2")
    assert verdict.summary.endswith("Thread 0.2 took items from it, but will take no more.")
    assert [one.time for one in verdict.steps] == [4]


def test_items_that_were_there_from_the_beginning_are_not_denied() -> None:
    parts = [thread("0.1", 1), thread("0.2"), thing(1, "Queue", state="empty")]
    verdict = told(*parts, step(1, "0.2", "gets from", 2))
    assert verdict.kind == kinds.NO_PRODUCER
    assert "It had some when the threads began, and thread 0.2 took the last one." in verdict.summary
    assert "Nobody ever did." in told(*parts).summary
    assert "Nobody ever did." in told(*parts, step(1, "0.1", "gets from", 2)).summary


def joining(name: str) -> HangThread:
    return replace(thread(name, 1), explanation="waits for all items of the Queue to be done")


def test_who_waits_until_all_items_are_done_does_not_wait_for_an_item() -> None:
    parts = [joining("0"), thread("0.2", 1), thread("0.1"), thing(1, "Queue", state="empty")]
    steps = [step(1, "0.2", "gets from", 3), step(1, "0.2", "is done with an item of", 4)]
    steps += [step(1, "0.1", "gets from", 5), step(1, "0.2", "gets from", 6), step(1, "0.2", "waits", 7)]
    verdict = told(*parts, *steps, ending=died("0.1"))
    assert verdict.kind == kinds.NEVER_DONE
    assert [wait.thread.thread for wait in verdict.waits] == ["0"]
    assert verdict.summary.startswith("An exception ended thread 0.1")
    assert verdict.summary.endswith("Thread 0.1 took one at prog.py:10, and did not call `task_done()` for it.")
    assert [one.time for one in verdict.steps] == [5]
    assert "`finally:`" in verdict.help
    assert waits_for(hang(*parts), joining("0")) == "waits until all items of thing1 are done"
    assert "Thread 0.1 took 2, the last one at" in told(*parts, *steps, step(1, "0.1", "gets from", 5)).summary


def test_items_that_nobody_takes_are_not_done_either() -> None:
    verdict = told(joining("0"), thread("0.1"), thing(1, "Queue", state="it has 2 items"), ending=died("0.1"))
    assert "In it, has 2 items" not in verdict.summary
    assert verdict.summary.startswith("An exception ended thread 0.1")
    assert verdict.summary.endswith("It has 2 items, and nobody takes them out.")


def test_a_permit_that_was_not_given_back_is_told_with_its_place() -> None:
    parts = [thread("0.1", 1), thread("0.2"), thing(1, "Semaphore", state="no permit left of 1")]
    kept, given = step(1, "0.2", "acquires", 5), [step(1, "0.2", "acquires", 1), step(1, "0.2", "releases", 2)]
    own = [step(1, "0.1", "acquires", 6), step(1, "0.1", "waits", 7)]
    verdict = told(*parts, *given, kept, *own)
    assert verdict.kind == kinds.LEAKED_PERMIT
    assert verdict.steps == (kept,)
    assert "Thread 0.2 took one at prog.py:10 in work, has ended since and never released it." in verdict.summary


def test_a_barrier_names_the_thread_that_came_before_and_not_now() -> None:
    steps = [step(1, "0.1", "arrives at", 1), step(1, "0.2", "arrives at", 2), step(1, "0.1", "arrives at", 3)]
    verdict = told(thread("0.1", 1), thread("0.2"), thing(1, "Barrier", state="1 of 2 threads are there"), *steps)
    assert verdict.kind == kinds.SHORT_BARRIER
    assert "Thread 0.2 came to it before, but not this time" in verdict.summary


def test_a_future_that_nobody_completes() -> None:
    future = thing(1, "Future", state="no thread that is left runs a task for it")
    assert told(thread("0.1", 1), future).kind == kinds.NEVER_COMPLETED


def test_two_waits_for_something_outside_are_one_deadlock_of_both() -> None:
    both = [replace(thread(name, 5), thing=-1) for name in ("0.1", "0.2")]
    assert told(*both).kind == kinds.COMMUNICATION
    assert told(both[0]).kind == kinds.NEVER_COMES
    assert verdict_of(hang(both[0], why="time limit"), ENDING).kind == kinds.WAITS_OUTSIDE


def test_at_the_time_limit_lines_that_come_round_tell_a_livelock_from_a_loop() -> None:
    runs = replace(thread("0.1"), state="runs")
    row = ("0.1", "prog.py", 3)
    spin = verdict_of(hang(runs, thread("0", end_of="0.1"), why="time limit", turns=(row,)), ENDING)
    assert spin.kind == kinds.SPIN
    assert "Thread 0.1 repeats prog.py:3 and does not leave" in spin.summary
    turns = (row, ("0.2", "prog.py", 5), ("0.1", "prog.py", 7))
    both = hang(runs, replace(thread("0.2"), state="can run"), why="time limit", turns=turns)
    livelock = verdict_of(both, ENDING)
    assert livelock.kind == kinds.LIVELOCK
    assert "The threads 0.1 and 0.2 run, but none gets on: the same 3 lines" in livelock.summary
    assert verdict_of(hang(runs, why="time limit"), ENDING).kind == kinds.BUSY


def test_a_deadlock_is_told_at_the_time_limit_too() -> None:
    """One thread that waits for something outside keeps the others' deadlock from being noticed."""
    circle = [
        thread("0.1", 2, holds=(1,)),
        thread("0.2", 1, holds=(2,)),
        thing(1, "Lock", "0.1"),
        thing(2, "Lock", "0.2"),
    ]
    outside = replace(thread("0", 5), thing=-1)
    assert verdict_of(hang(outside, *circle, why="time limit"), ENDING).kind == kinds.LOCK_ORDER


def test_a_worker_that_stands_idle_in_library_code_explains_nothing() -> None:
    idle = replace(thread("0.1", 1), stack=len(STACKS))
    parts = [idle, thread("0.2", 2), thing(1, "SimpleQueue", state="empty"), thing(2, "Event", state="not set")]
    whole = hang(*parts)
    whole = replace(whole, stacks=(*STACKS, (frame(80, "_worker", counted=False),)))
    assert verdict_of(whole, ENDING).things == (parts[3],)


def test_threads_that_all_wait_for_one_queue_are_no_circle() -> None:
    """Each of them could put an item there, but none has one."""
    queue = thing(1, "Queue", state="empty", likely=("0.1", "0.2"))
    verdict = told(thread("0.1", 1), thread("0.2", 1), queue, step(1, "0.1", "puts into", 2))
    assert verdict.kind == kinds.NO_PRODUCER
    assert "Thread 0.1 put items into it, but will put no more." in verdict.summary

"""How late each thread is, so that the delays of a run do not add up.

A schedule may end a sleep early: on a busy machine, the threads that could have run meanwhile would be that late. Where
a thread polls, each round makes them later. So what is bounded is how late a thread is in all, compared with the one
that goes on before it.

Rules of this module:

* Each thread has a *due time*: how far the clock would have jumped by now if this thread had never been late. Running
  takes no time. A sleep moves it on by what the sleep took. Who was waiting for another thread is due when that one is,
  or later; a new thread when its creator is.
* It changes only where the baton or the clock moves. A run and its replay have these places in common; other choices
  of the strategy belong to the run alone.
"""

from __future__ import annotations

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from .clock import Clock
    from .thread import ManagedThread


def late_if_woken_ns(clock: Clock, sleeper: ManagedThread, ready: list[ManagedThread], runner: ManagedThread) -> int:
    """How late, in virtual nanoseconds, the latest of some threads is if a sleep ends before it goes on.

    Args:
        clock: the virtual clock.
        sleeper: who would wake up; it has a deadline.
        ready: the threads that would have to wait.
        runner: who has been running.
    """
    if sleeper.deadline is None:
        return 0
    since_ns = clock.jumped_ns if sleeper.waits_since_ns is None else sleeper.waits_since_ns
    latest_ns = max(clock.jumped_ns - _due_ns(clock, thread, runner) for thread in ready)
    # Who is late itself does not overtake one that is as late.
    return max(0, sleeper.deadline - clock.now_ns) + max(0, latest_ns - (since_ns - sleeper.due_ns))


def at_hand_over(clock: Clock, threads: list[ManagedThread], ready: list[ManagedThread], runner: ManagedThread) -> None:
    """Note who waits and who does no longer, before the baton or the clock moves."""
    for thread in ready:
        if thread.waits_since_ns is not None:
            thread.due_ns, thread.waits_since_ns = _due_ns(clock, thread, runner), None
    at_work = [thread for thread in threads if thread.waits_since_ns is None]
    if len(at_work) > len(ready):
        for thread in at_work:
            if thread not in ready:
                thread.waits_since_ns = clock.jumped_ns


def has_slept(clock: Clock, thread: ManagedThread) -> None:
    """The clock has jumped to the deadline of a thread, which goes on."""
    if thread.waits_since_ns is not None:
        thread.due_ns += clock.jumped_ns - thread.waits_since_ns
        thread.waits_since_ns = None


def _due_ns(clock: Clock, thread: ManagedThread, runner: ManagedThread) -> int:
    """When a ready thread was due, as far as jumps of the clock go."""
    since_ns = thread.waits_since_ns
    if since_ns is None:
        return thread.due_ns
    if runner is thread or (thread.deadline is not None and thread.deadline <= clock.now_ns):
        return thread.due_ns + clock.jumped_ns - since_ns
    return max(thread.due_ns, runner.due_ns)

"""What kind of hang it is where threads could run but none gets on, or a run reached its time limit.

Rules of this module:

* That the same lines were seen in the same order several times in a row was seen; that this goes on for ever is
  inferred, as values may differ each time.
"""

from __future__ import annotations

from replay_dd.schedules.hang import NO_PROGRESS, Hang
from replay_dd.schedules.model import Ending
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.unended import of_roots
from replay_dd.schedules.story.verdict import Verdict, Wait, of_lines
from replay_dd.schedules.story.words import listed


def of_time_limit(hang: Hang, waits: list[Wait], ending: Ending) -> Verdict:
    """What kind of hang it is; arguments as for ``verdict_of``, and who waits for what."""
    seen = (
        "the program came to the same state again and again, and every thread that could run did"
        if hang.why == NO_PROGRESS
        else "the same yield points were seen three times in a row"
    )
    threads = list(dict.fromkeys(thread for thread, _, _ in hang.turns))
    waiting = {wait.thread.thread: wait for wait in waits}
    others = [one.thread for one in hang.threads if one.thread not in threads and one.state != "ended"]
    if len(threads) > 1:
        shown = [waiting.get(name) or _running(hang, name) for name in threads]
        held = tuple(thing for thing in map(hang.thing, _held(hang, threads)) if thing is not None)
        locks = f" They take {listed(thing.called for thing in held)} and give up again." if held else ""
        return Verdict(
            kinds.LIVELOCK,
            tuple(wait for wait in shown if wait is not None),
            held,
            f"The threads {listed(sorted(threads))} run, but none gets on: the same {len(hang.turns)} lines come round "
            f"in the same order again and again.{locks}",
            help="make the threads differ: wait for a random time before trying again; or take the locks in one order, "
            "and wait for them"
            if held
            else "make the threads differ: wait for a random time before trying again",
            inferred=(f"that this goes on for ever: {seen}",),
        )
    if threads:
        name = threads[0]
        wait = waiting.get(name) or _running(hang, name)
        rest = f" The other threads ({listed(others)}) wait or have to wait for it." if others else ""
        return Verdict(
            kinds.SPIN,
            () if wait is None else (wait,),
            (),
            f"Thread {name} repeats {of_lines(hang.turns)} and does not leave that loop: nothing changes what it looks "
            f"at.{rest}",
            help="wait for an Event or a Condition instead of looking again and again, and end the wait on every way "
            "out of the thread that should bring the change",
            inferred=(f"that this goes on for ever: {seen}",),
        )
    running = next((one for one in hang.threads if one.state == "runs"), None)
    if running is not None:
        wait = Wait(running, None, (), known=True)
        where = next((frame for frame in hang.stack(running.stack) if frame.counted), None)
        at = f" at {where.file}:{where.line} in {where.function}" if where is not None else ""
        return Verdict(
            kinds.BUSY,
            (wait,),
            (),
            f"Thread {running.thread} was still running{at}; it passed yield points, and did not repeat itself.",
            help="give it more time, with `--time-limit`, to tell a slow program from one that hangs",
        )
    return of_roots(hang, waits, ending)


def _running(hang: Hang, name: str) -> Wait | None:
    thread = hang.thread(name)
    return None if thread is None else Wait(thread, None, (), known=True)


def _held(hang: Hang, threads: list[str]) -> list[int]:
    return sorted({number for one in hang.threads if one.thread in threads for number in one.holds})

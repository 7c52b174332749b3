"""A queue whose items are never all done: somebody has taken one, and did not call ``task_done()`` for it.

Rules of this module:

* What a thread takes last from a queue is not taken yet if it still waits for it.
* Without a history it is not known who has taken what; then only the wait is told.
"""

from __future__ import annotations

from replay_dd.schedules.hang import Hang, HangStep, HangThing, HangThread
from replay_dd.schedules.model import Ending
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.verdict import Verdict, Wait, how_died
from replay_dd.schedules.story.words import listed, short_file

_GETS, _IS_DONE = "gets from", "is done with an item of"


def waits_until_done(thread: HangThread) -> bool:
    """Whether a thread waits until all items of a queue are done."""
    return thread.explanation.startswith("waits for all items of")


def of_undone_items(hang: Hang, waits: tuple[Wait, ...], thing: HangThing, ending: Ending) -> Verdict:
    """What kind of hang it is.

    Args:
        hang: what is known of it.
        waits: of the threads that wait until all items are done.
        thing: the queue.
        ending: how the run ended, for the exceptions in its threads.
    """
    names = listed(wait.thread.thread for wait in waits)
    who = f"Threads {names} wait" if len(waits) > 1 else f"Thread {names} waits"
    kept = _kept(hang, thing)
    words = f"{who} until all items of {thing.called} are done, and not all are."
    for thread, (step, count) in kept.items():
        place = next((frame for frame in hang.stack(step.stack) if frame.counted), None)
        where = f" at {short_file(place.file)}:{place.line}" if place is not None else ""
        took = f"took one{where}, and did not call `task_done()` for it"
        if count > 1:
            took = f"took {count}, the last one{where}, for which it did not call `task_done()`"
        words += f" Thread {thread} {took}.{how_died(ending, thread)}"
    if not kept and thing.state.startswith("it has"):
        dead = dict.fromkeys(error.where for error in ending.exceptions if error.where != "main")
        words += f" {thing.state.capitalize()}, and nobody takes them out."
        words += "".join(how_died(ending, thread) for thread in dead)
    return Verdict(
        kinds.NEVER_DONE,
        waits,
        (thing,),
        words,
        tuple(step for step, _ in kept.values())[-3:],
        help="call `task_done()` for each item that was taken, exceptions or not: in a `finally:`",
    )


def _kept(hang: Hang, thing: HangThing) -> dict[str, tuple[HangStep, int]]:
    """The threads that have taken items and not told that they are done: the last one taken, how many."""
    taken: dict[str, list[HangStep]] = {}
    for step in hang.steps_of(thing.number):
        if step.does == _GETS:
            taken.setdefault(step.thread, []).append(step)
        elif step.does == _IS_DONE:
            (taken.get(step.thread) or next((own for own in taken.values() if own), [step])).pop()
    for thread in hang.threads:
        if thread.thing == thing.number and not waits_until_done(thread) and taken.get(thread.thread):
            taken[thread.thread].pop()  # it still waits for that
    return {thread: (steps[-1], len(steps)) for thread, steps in taken.items() if steps}

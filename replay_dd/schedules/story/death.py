"""The exception that ended a thread, where others wait for ever for what it no longer does: the story begins there.

Rules of this module:

* An exception is the cause if the story tells of it anyhow, or if its thread does in the passing run what would end the
  wait, more often than in the failing one; or if other threads did so in a function that the exception left before.
* Who was notified by others before that has missed nothing: what it waits for is never there.
"""

from __future__ import annotations

from replay_dd.schedules.hang import Hang, HangThing
from replay_dd.schedules.model import Ending, UncaughtException
from replay_dd.schedules.story.kinds import MISSED_NOTIFICATION, NEVER_COMES
from replay_dd.schedules.story.verdict import ENDS_WAIT, Verdict, how_died, name_of_dead, own_name

_ENDS = (*ENDS_WAIT, "releases", "arrives at")


def beginning_with_death(verdict: Verdict, failing: Hang, passing: Hang | None, ending: Ending) -> Verdict:
    """What is concluded of a hang, with the exceptions first that led to it, and what would help against that.

    Args:
        verdict: what is concluded.
        failing: what is known of the hang.
        passing: what happened to locks and the like in the passing run; None if that was not kept.
        ending: how the failing run ended.
    """
    summary, causes, missed = verdict.summary, [], ""
    for thread, error in {name_of_dead(error): error for error in reversed(ending.exceptions)}.items():
        words = how_died(ending, thread)
        is_told = bool(words) and words in summary
        if passing is None:
            missing = any(_was_to_end_wait(failing, one, error) for one in verdict.things)
        else:
            missing = any(_ends_wait(passing, one, thread) > _ends_wait(failing, one, thread) for one in verdict.things)
        if is_told or missing:
            summary = summary.replace(words, "")
            causes.append(words.lstrip())
        if missing:
            missed = missed or thread
    if not causes:
        return verdict
    verdict = verdict._replace(summary=" ".join([*causes, summary]))
    if verdict.kind != MISSED_NOTIFICATION or not missed:
        return verdict
    signal = "set" if verdict.things[0].kind == "Event" else "notify"
    help_ = (
        f"{signal} {own_name(verdict.things[0])} on every way out of thread {missed}, exceptions too: in a `finally:`"
    )
    return verdict._replace(kind=NEVER_COMES, help=help_)


def _was_to_end_wait(hang: Hang, thing: HangThing, error: UncaughtException) -> bool:
    """Whether a function that an exception left ends a wait for a thing further down, as other threads have shown."""
    left = {(frame.file, frame.function): frame.line for frame in error.frames if frame.counted}
    return any(
        left.get((frame.file, frame.function), frame.line) < frame.line
        for step in hang.steps_of(thing.number)
        if step.does in _ENDS and step.thread != name_of_dead(error)
        for frame in hang.stack(step.stack)
    )


def _ends_wait(hang: Hang, thing: HangThing, thread: str) -> int:
    """How often a thread does what ends a wait for a thing of this name."""
    numbers = {one.number for one in hang.things if (one.kind, one.called) == (thing.kind, thing.called)}
    return sum(one.thing in numbers and one.thread == thread and one.does in _ENDS for one in hang.steps)

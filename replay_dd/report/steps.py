"""The steps of a story in the order of the failing run, for the forms that show them otherwise than line by line."""

from __future__ import annotations

from typing import NamedTuple

from replay_dd.schedules.hang import DEADLOCK
from replay_dd.schedules.story.story import Step, Story, Thing, Turn, kind_in_words
from replay_dd.schedules.story.words import short_file


class NumberedStep(NamedTuple):
    """A step, its place in the order of all, and its thread."""

    number: int
    thread: str
    step: Step


def numbered_steps(story: Story) -> list[NumberedStep]:
    """All steps of the failing run, counted from 1."""
    steps = [(turn.thread, step) for turn in story.turns for step in turn.steps]
    return [NumberedStep(number, thread, step) for number, (thread, step) in enumerate(steps, 1)]


def title_of(story: Story) -> str:
    """What it is about: ``RACE on Cache.entries['a']: check-then-act``."""
    what = verdict_word(story)
    on = f" on {' and '.join(thing.name for thing in story.things)}" if story.things else ""
    return f"{what}{on}: {kind_in_words(story)}"


def verdict_word(story: Story) -> str:
    """What happened, in one word: ``RACE``, ``DEADLOCK``, or ``HANG`` where threads still run."""
    if story.hang is None:
        return "RACE"
    return "DEADLOCK" if story.hang.hang.why == DEADLOCK else "HANG"


def threads_of(story: Story) -> list[str]:
    """Its threads, the interrupted one first."""
    told = [turn.thread for turn in story.turns] + [thread for thread, _ in story.passing]
    return list(dict.fromkeys(told))


def place_of(step: Step) -> str:
    """Where it is: ``cache.py:20``."""
    place = step.access.place
    return f"{short_file(place.file)}:{place.line}"


def words_of(step: Step) -> str:
    """What it does, with the number by which the story refers to it."""
    return f"{step.words} ({step.mark})" if step.mark else step.words


def thing_of(step: Step, story: Story) -> Thing | None:
    """What of the story's things a step is about; the first one if that is not plain."""
    for thing in story.things:
        if thing.name == step.access.name:
            return thing
    named = [thing for thing in story.things if thing.name in step.words]
    return next(iter(named or story.things), None)


def then_of(turn: Turn) -> str:
    """What happens after a turn; with how much of it is not shown."""
    more = f"{turn.left_out} more accesses are not shown" if turn.left_out else ""
    return "; ".join(filter(None, [more, turn.then]))

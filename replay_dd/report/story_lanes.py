"""The failing run of a story in lanes: a column for each thread, with its source lines, time going down."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from replay_dd.report.source import source_line
from replay_dd.report.steps import place_of, then_of, threads_of, words_of
from replay_dd.schedules.model import Program
from replay_dd.schedules.story.story import Step, Story

MOST_LANES = 3
_NARROWEST = 24  # columns of a lane
_WIDEST = 76
_GAP = "  "


def fits_lanes(story: Story, width: int) -> bool:
    """Whether the threads of a story fit side by side into a number of columns."""
    threads = len(threads_of(story))
    return 1 < threads <= MOST_LANES and _lane_width(story, width) >= _NARROWEST


def story_in_lanes(story: Story, program: Program, width: int, *, unicode: bool = True) -> Iterator[str]:
    """The lanes, line by line; see :func:`fits_lanes`.

    Args:
        story: what the threads do to each other.
        program: the program, for its source lines.
        width: the number of columns.
        unicode: draw with line characters outside ASCII.
    """
    threads = threads_of(story)
    before, wide = _places_width(story), _lane_width(story, width)
    rule, idle = ("─", "│") if unicode else ("-", "|")

    def row(place: str, lane: int, text: str) -> str:
        cells = [f"{text if at == lane else idle:<{wide}}" for at in range(len(threads))]
        return f"{place:<{before}}{_GAP}{_GAP.join(cells)}".rstrip()

    yield f"{'':<{before}}{_GAP}{_GAP.join(f'thread {thread}'.ljust(wide) for thread in threads)}".rstrip()
    for number, turn in enumerate(story.turns):
        lane = threads.index(turn.thread)
        for step in turn.steps:
            place = place_of(step)
            for text in _wrapped(step, program, wide):
                yield row(place, lane, text)
                place = ""
        last = number + 1 == len(story.turns)
        target = lane if last else threads.index(story.turns[number + 1].thread)
        if target != lane:
            yield _switch_line(lane, target, before, wide, len(threads), rule=rule, idle=idle)
        for text in textwrap.wrap(then_of(turn), before + len(_GAP) + wide * len(threads) - 4, break_on_hyphens=False):
            yield f"{'':<{before}}{_GAP}({text})" if last else f"{'':<{before}}{_GAP}{text}"


def _switch_line(lane: int, target: int, before: int, wide: int, lanes: int, *, rule: str, idle: str) -> str:
    """An arrow from the lane of the thread that gives way to that of the one that runs on."""
    step = wide + len(_GAP)
    cells = list(" " * (step * lanes))
    for at in range(lanes):
        cells[at * step] = idle
    first, last = sorted((lane * step, target * step))
    for at in range(first, last + 1):
        cells[at] = rule
    cells[target * step] = ">" if target > lane else "<"
    cells[lane * step] = "*"
    return f"{'switch':<{before}}{_GAP}{''.join(cells)}".rstrip()


def _wrapped(step: Step, program: Program, wide: int) -> Iterator[str]:
    text = source_line(step.access.place, program)
    yield from textwrap.wrap(text, wide, subsequent_indent="    ", break_on_hyphens=False)
    yield from textwrap.wrap(
        words_of(step), wide, initial_indent="  " if text else "", subsequent_indent="  ", break_on_hyphens=False
    )


def _places_width(story: Story) -> int:
    places: Sequence[str] = [place_of(step) for turn in story.turns for step in turn.steps]
    return max([len("switch"), *map(len, places)])


def _lane_width(story: Story, width: int) -> int:
    threads = max(1, len(threads_of(story)))
    return min(_WIDEST, (width - _places_width(story)) // threads - len(_GAP))

"""The answer of ``schedules`` in five lines: what it is about, what each thread does, the proof, how to replay it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from replay_dd.report.schedules import does_in_words, proof_of
from replay_dd.report.steps import numbered_steps, place_of, title_of
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.story.deadlock import waits_for
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.story import Story

_LABEL = 13
_WIDTH = 80


def short_as_text(found: ScheduleIsolation, explanation: Explanation, failing: Path) -> Iterator[str]:
    """Five lines, with one more for each thread after the second. Only the last may be wider than 80 columns.

    Args:
        found: the result.
        explanation: what the threads did to each other.
        failing: the path of the minimal failing log.
    """
    if explanation.story is not None:
        yield _cut(f"{title_of(explanation.story)}; {found.isolation.failure.words}")
        yield from _threads(explanation.story)
    else:
        yield from _without_story(found)
    yield _cut(f"{'proof':<{_LABEL}}{proof_of(found)}")
    yield f"{'fails':<{_LABEL}}replay-dd replay {quote(str(failing))}"


def _threads(story: Story) -> Iterator[str]:
    """A line for each thread: what it does, or what it waits for at the end."""
    told = story.hang
    if told is not None and not told.led_by:
        for wait in told.verdict.waits:
            yield _cut(f"{f'thread {wait.thread.thread}':<{_LABEL}}{waits_for(told.hang, wait.thread)}")
        return
    steps = numbered_steps(story)
    for thread in dict.fromkeys(step.thread for step in steps):
        own = [f"{step.number}. {place_of(step.step)} {step.step.words}" for step in steps if step.thread == thread]
        yield _fitting(f"thread {thread}", own)


def _without_story(found: ScheduleIsolation) -> Iterator[str]:
    yield _cut(f"RACE; {found.isolation.failure.words}")
    if found.switch is None:
        yield "The two runs make the same switches: what differs is not the schedule."
        return
    failing, passing = found.switch.failing, found.switch.passing
    yield _cut(f"{'fails if':<{_LABEL}}thread {failing.thread} {does_in_words(failing)} {failing.where}")
    if passing is None:
        yield f"{'passes if':<{_LABEL}}thread {failing.thread} runs on to the end"
    else:
        yield _cut(f"{'passes if':<{_LABEL}}thread {passing.thread} {does_in_words(passing)} {passing.where}")


def _fitting(label: str, parts: list[str]) -> str:
    """What a thread does, in one line; its first and last steps are the ones that count."""
    left_out = False
    while True:
        half = (len(parts) + 1) // 2
        shown = [*parts[:half], "...", *parts[half:]] if left_out else parts
        line = f"{label:<{_LABEL}}{'  '.join(shown)}"
        if len(line) <= _WIDTH or len(parts) <= 2:
            return _cut(line)
        parts = [*parts[: half - 1], *parts[half:]] if len(parts) % 2 else [*parts[:half], *parts[half + 1 :]]
        left_out = True


def _cut(line: str) -> str:
    line = " ".join(line.splitlines())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3]}..."

"""The answer of ``schedules``, and a log, in Markdown as GitHub draws it: for a pull request or an issue.

Rules of this module:

* Texts come from programs. Code stands in code spans and blocks whose fences it cannot end; of other text, whatever has
  a meaning in Markdown or HTML is written as a character reference, and nobody is mentioned by it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log, notes_of
from replay_dd.report.mermaid import story_as_mermaid
from replay_dd.report.schedules import does_in_words, proof_of, schedules_as_text
from replay_dd.report.source import source_line
from replay_dd.report.steps import place_of, then_of, threads_of, words_of
from replay_dd.report.story import evidence_as_text, hang_of_story_as_text
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.model import Log, Program
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.story import Step, Story, kind_in_words
from replay_dd.trust.printable import printable

_MEANING = re.compile(
    r"(?<![^\W_])_|_(?![^\W_])|[\\`*{}\[\]#!|<>&~$]|(?<=\w)@|@(?=\w)|^[-+.=]|(?<=[a-z]):(?=//)|(?<=www)\."
)
_MOST_LANES = 4


def schedules_as_markdown(
    found: ScheduleIsolation, passing: Path, failing: Path, explanation: Explanation
) -> Iterator[str]:
    """The answer, line by line.

    Args:
        found: the result.
        passing: the path of the minimal passing log.
        failing: the path of the minimal failing log.
        explanation: what the threads did to each other.
    """
    story, program = explanation.story, found.failing.program
    if story is None:
        yield "### A thread switch makes the program fail"
        yield ""
        yield from _switch(found)
    else:
        yield from _story(explanation, story, program)
    yield ""
    yield f"**Failure:** {code(found.isolation.failure.words)}"
    yield ""
    yield f"**Proof:** {plain(proof_of(found))}"
    for note in notes_of(found.passing, found.failing):
        yield ""
        yield f"**Note:** {plain(note)}"
    if story is not None and story.turns:
        yield from _folded(
            "Sequence diagram", _block(story_as_mermaid(story, program, found.isolation.failure.words), "mermaid")
        )
    yield from _folded("The isolated switch", _block(schedules_as_text(found, passing, failing), "text"))
    yield ""
    yield from _block(
        (f"replay-dd replay {quote(str(failing))}  # fails", f"replay-dd replay {quote(str(passing))}  # passes"), "sh"
    )


def _story(explanation: Explanation, story: Story, program: Program) -> Iterator[str]:
    yield f"### {'Race' if story.hang is None else 'Deadlock'}: {plain(kind_in_words(story))}"
    yield ""
    things = " and ".join(f"{code(thing.name)} ({plain(thing.what)})" for thing in story.things)
    yield f"{f'On {things}. ' if things else ''}{plain(story.summary)}"
    hang = list(hang_of_story_as_text(story, program))
    if hang:
        yield ""
        yield from _block(hang, "text")
    if story.turns and (story.hang is None or story.hang.led_by):
        yield ""
        yield from _table(story, program)
    yield ""
    yield from _block(list(evidence_as_text(explanation, story, program)), "text")


def _table(story: Story, program: Program) -> Iterator[str]:
    """The steps, with a column for each thread; for many threads, with one for all."""
    threads = threads_of(story)
    wide = len(threads) <= _MOST_LANES
    columns = [f"thread {thread}" for thread in threads] if wide else ["thread", "what it does"]
    yield _row(["", *columns])
    yield _row(["---"] * (len(columns) + 1))
    for turn in story.turns:
        at = threads.index(turn.thread)
        for step in turn.steps:
            cell = _cell(step, program)
            cells = [cell if lane == at else "" for lane in range(len(threads))] if wide else [turn.thread, cell]
            yield _row([code(place_of(step)), *cells])
        then = then_of(turn)
        if then:
            cell = f"*{plain(then)}*"
            cells = [cell if lane == at else "" for lane in range(len(threads))] if wide else [turn.thread, cell]
            yield _row(["", *cells])


def _cell(step: Step, program: Program) -> str:
    text = source_line(step.access.place, program)
    return f"{code(text)}<br>{plain(words_of(step))}" if text else plain(words_of(step))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _switch(found: ScheduleIsolation) -> Iterator[str]:
    if found.switch is None:
        yield "The two runs make the same switches: what differs is not the schedule."
        return
    failing, passing = found.switch.failing, found.switch.passing
    yield f"- It fails if thread {failing.thread} {does_in_words(failing)} {plain(failing.where)}."
    if passing is None:
        yield f"- It passes if thread {failing.thread} runs on to the end."
    else:
        yield f"- It passes if thread {passing.thread} {does_in_words(passing)} {plain(passing.where)}."


def log_as_markdown(log: Log, *, source: bool = True) -> Iterator[str]:
    """A log, line by line: its facts, and its switches as lanes.

    Args:
        log: the log.
        source: show source lines; pass False if the program has changed since.
    """
    yield f"### {code(signature_of(log.ending).text)}"
    yield ""
    yield "| | |"
    yield "| --- | --- |"
    for line in describe_log(log):
        yield _row([plain(line[:13].strip()), code(line[13:])])
    yield from _folded("Thread switches", _block(lanes(log, source=source), "text"))


# -- texts ------------------------------------------------------------------------------------------------------------


def _folded(title: str, lines: Iterator[str]) -> Iterator[str]:
    yield ""
    yield f"<details><summary>{html.escape(title)}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"


def _block(lines: Iterator[str] | Sequence[str], language: str) -> Iterator[str]:
    """A block of code, whose fence is longer than any in it."""
    told = [printable(line) for line in lines]
    longest = max((len(run) for line in told for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield from told
    yield fence


def code(text: str) -> str:
    """Text as code, on one line; it may stand in a table."""
    text = printable(" ".join(text.split()))
    if not text:
        return ""
    if "|" in text or "`" in text:
        return f"<code>{_referenced(text)}</code>"
    return f"`{text}`"


def plain(text: str) -> str:
    """Text that means nothing but itself."""
    text = printable(" ".join(text.split()))
    return _MEANING.sub(
        lambda found: found[0].replace("@", "@<!-- -->") if "@" in found[0] else _referenced(found[0]), text
    )


def _referenced(text: str) -> str:
    return "".join(
        character if character.isalnum() or character == " " else f"&#{ord(character)};" for character in text
    )

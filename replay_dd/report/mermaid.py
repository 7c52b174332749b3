"""Sequence diagrams in Mermaid's language, which GitHub, GitLab and many editors draw.

Rules of this module:

* Texts come from programs. Whatever Mermaid, Markdown or HTML could take for more than a letter becomes a character
  code in Mermaid's own form, ``#35;``; so no text can end a message, the diagram, or the block that it stands in.
* Mermaid draws up to some 50,000 characters: a diagram shows as many switches of a log as a reader can follow.
"""

from __future__ import annotations

from collections.abc import Iterator

from replay_dd.report.source import source_line
from replay_dd.report.steps import place_of, then_of, thing_of, threads_of, words_of
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Log, Program, Switch
from replay_dd.schedules.story.story import Step, Story
from replay_dd.trust.printable import printable

_SAFE = frozenset(" .,:'()[]=+*/_-")
_LONGEST = 90
_MOST_SWITCHES = 60


def story_as_mermaid(story: Story, program: Program, failure: str) -> Iterator[str]:
    """The failing run of a story, line by line.

    Args:
        story: what the threads do to each other.
        program: the program, for its source lines.
        failure: what comes of it, in words.
    """
    threads = {thread: f"T{number}" for number, thread in enumerate(threads_of(story))}
    things = {thing: f"D{number}" for number, thing in enumerate(story.things)}
    yield "sequenceDiagram"
    yield "    autonumber"
    names = list(threads.items())
    for thread, name in names[:1]:
        yield f"    participant {name} as thread {escaped(thread)}"
    for thing, name in things.items():
        yield f"    participant {name} as {escaped(thing.name)}"
    for thread, name in names[1:]:
        yield f"    participant {name} as thread {escaped(thread)}"
    for turn in story.turns:
        me = threads[turn.thread]
        for step in turn.steps:
            about = thing_of(step, story)
            arrow = "->>" if any(access.writes for access in step.accesses) else "-->>"
            yield f"    {me}{arrow}{me if about is None else things[about]}: {_message(step, program)}"
        if then_of(turn):
            yield f"    Note over {me}: {escaped(then_of(turn))}"
    last = threads[story.turns[-1].thread] if story.turns else "T0"
    yield f"    Note over {last}: {escaped(failure)}"


def _message(step: Step, program: Program) -> str:
    text = source_line(step.access.place, program)
    told = f"{escaped(place_of(step))}"
    if text:
        told += f" {escaped(text)}<br/>"
    return f"{told}{'' if text else ' '}{escaped(words_of(step))}"


def _does(switch: Switch) -> str:
    if switch.collects:
        return "collects garbage"
    if switch.ended:
        return "ends"
    return "has to wait" if switch.forced else "is preempted"


def log_as_mermaid(log: Log, *, source: bool = True) -> Iterator[str]:
    """The switches of a log, line by line.

    Args:
        log: the log.
        source: show source lines; pass False if the program has changed since.
    """
    shown = _shown(log)
    threads: dict[str, str] = {}
    for switch in shown:
        for thread in (switch.thread, switch.to):
            threads.setdefault(thread, f"T{len(threads)}")
    threads = threads or {"0": "T0"}
    yield "sequenceDiagram"
    for thread, name in threads.items():
        yield f"    participant {name} as thread {escaped(thread)}"
    for switch in shown:
        why = _does(switch)
        at = "" if switch.place is None else f" at {switch.place}"
        text = source_line(switch.place, log.program) if source and switch.place is not None else ""
        arrow = "-->>" if switch.by_default else "->>"
        told = escaped(f"{why}{at}") + (f"<br/>{escaped(text)}" if text else "")
        yield f"    {threads[switch.thread]}{arrow}{threads[switch.to]}: {told}"
    last = threads[shown[-1].to] if shown else "T0"
    more = len(log.switches) - len(shown)
    if more:
        yield f"    Note over {last}: {more} more switches are not shown"
    yield f"    Note over {last}: {escaped(signature_of(log.ending).text)}"


def _shown(log: Log) -> tuple[Switch, ...]:
    """The switches to show: all, or those of the schedule if there are too many, or the first of these."""
    if len(log.switches) <= _MOST_SWITCHES:
        return log.switches
    return tuple(switch for switch in log.switches if not switch.by_default)[:_MOST_SWITCHES]


def escaped(text: str) -> str:
    """A text as a part of a message."""
    text = printable(" ".join(text.split()))
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 3]}..."
    told = "".join(
        character if character in _SAFE or character.isalnum() else f"#{ord(character)};" for character in text
    )
    return told.replace("wrap:", "wrap#58;")  # at its beginning, that would be an instruction

"""The story of an isolated switch as text and as JSON."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from typing import Any

from replay_dd.report.source import source_line
from replay_dd.report.tried import tried_as_json, tried_in_words
from replay_dd.schedules.model import Program
from replay_dd.schedules.observation import Access, StackFrame, Value
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.story import Step, Story, Turn

_WIDTH = 80
_LABEL = 13  # columns before the text of a line with a name


def story_as_text(explanation: Explanation, program: Program) -> Iterator[str]:
    """The story, line by line, at most 80 columns wide unless a source line is wider.

    Args:
        explanation: the story, or why there is none.
        program: the program, for its source lines.
    """
    story = explanation.story
    if story is None:
        yield from _labelled("story", f"none: {explanation.why_not}")
        return
    things = " and ".join(f"{thing.name} ({thing.what})" for thing in story.things)
    yield from textwrap.wrap(f"{_title(story)} {things}: {story.kind}", _WIDTH, subsequent_indent="  ")
    yield from textwrap.wrap(story.summary, _WIDTH)
    for turn in story.turns:
        yield from _turn(turn, program)
    if story.passes:
        yield from _labelled("otherwise", f"it passes {story.passes}")
        wide = max((len(_at(step.access)) for _, step in story.passing), default=0)
        for thread, step in story.passing:
            yield from _step(step, f"    {thread:<5} {_at(step.access):<{wide}}  ", None)
    for line in story.locks:
        yield from _labelled("locks", line)
    for line in story.waits:
        yield from _labelled("waits", line)
    for label, line in tried_in_words(explanation.tried):
        yield from _labelled(label, line)
    yield from _labelled("seen", "the steps and values above, when both final runs were repeated")
    for line in story.inferred:
        yield from _labelled("inferred", line)


def _title(story: Story) -> str:
    return "DEADLOCK on" if "deadlock" in story.kind else "RACE on"


def _labelled(label: str, text: str) -> Iterator[str]:
    indent = " " * _LABEL
    yield from textwrap.wrap(f"{label:<{_LABEL}}{text}", _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _turn(turn: Turn, program: Program) -> Iterator[str]:
    yield from textwrap.wrap(
        f"  thread {turn.thread}  {_way(turn.path)}", _WIDTH, subsequent_indent="      ", break_long_words=False
    )
    wide = max(len(_at(step.access)) for step in turn.steps)
    half = len(turn.steps) // 2
    for number, step in enumerate(turn.steps):
        if turn.left_out and number == half:
            yield f"    ... {turn.left_out} more accesses to it ..."
        yield from _step(step, f"    {_at(step.access):<{wide}}  ", program)
    if turn.then:
        yield f"    -- {turn.then} --"


def _step(step: Step, before: str, program: Program | None) -> Iterator[str]:
    mark = f"   ({step.mark})" if step.mark else ""
    words = step.words + mark
    text = source_line(step.access.place, program) if program else ""
    if not text:
        yield from textwrap.wrap(before + words, _WIDTH, subsequent_indent=" " * len(before), drop_whitespace=True)
        return
    line = f"{before}{text}"
    if len(line) + 3 + len(words) <= _WIDTH:
        yield f"{line}   {words}"
        return
    yield line
    indent = " " * (len(before) + 4)
    yield from textwrap.wrap(indent + words, _WIDTH, subsequent_indent=indent, break_long_words=False)


def _at(access: Access) -> str:
    return f"{os.path.basename(access.place.file)}:{access.place.line}"


def _way(path: tuple[StackFrame, ...]) -> str:
    """The way from the user's code to an access: where it begins, and the functions after that."""
    if not path:
        return ""
    first, *rest = path
    names = [f"{os.path.basename(first.file)}:{first.line}"] if rest else [f"{first.function}"]
    functions = [frame.function for frame in rest]
    if len(functions) > 4:
        functions = [functions[0], f"... {len(functions) - 3} more ...", *functions[-2:]]
    return " > ".join(names + functions)


def story_as_json(explanation: Explanation, program: Program) -> dict[str, Any]:
    """The member ``story`` of what ``schedules --json`` prints."""
    story = explanation.story
    if story is None:
        return {"why_not": explanation.why_not}
    return {
        "kind": story.kind,
        "things": [{"name": thing.name, "what": thing.what} for thing in story.things],
        "summary": story.summary,
        "turns": [
            {
                "thread": turn.thread,
                "path": [{"file": one.file, "line": one.line, "function": one.function} for one in turn.path],
                "steps": [_step_as_json(step, program) for step in turn.steps],
                "left_out": turn.left_out,
                "then": turn.then,
            }
            for turn in story.turns
        ],
        "passes": story.passes,
        "passing": [{"thread": thread, **_step_as_json(step, program)} for thread, step in story.passing],
        "locks": list(story.locks),
        "waits": list(story.waits),
        "inferred": list(story.inferred),
        "tried": tried_as_json(explanation.tried),
    }


def _step_as_json(step: Step, program: Program) -> dict[str, Any]:
    return {
        "words": step.words,
        "mark": step.mark or None,
        "file": step.access.place.file,
        "line": step.access.place.line,
        "function": step.access.place.function,
        "source": source_line(step.access.place, program),
        "accesses": [
            {
                "time": access.time,
                "does": access.does,
                "name": access.name,
                "sort": access.thing[0],
                "object": access.thing[1],
                "key": access.thing[2],
                "reads": access.reads,
                "writes": access.writes,
                "old": _value_as_json(access.old),
                "new": _value_as_json(access.new),
                "detail": access.detail,
                "held": list(access.held),
            }
            for access in step.accesses
        ],
    }


def _value_as_json(value: Value) -> dict[str, Any] | None:
    return {"text": value.text, "type": value.type, "object": value.number} if value.is_known else None

"""The story of an isolated switch as text and as JSON."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from replay_dd.report.chain import chain_as_json, chain_as_text
from replay_dd.report.hang import threads_as_text, verdict_as_json
from replay_dd.report.links import labelled, links_as_json, links_as_text
from replay_dd.report.source import source_line
from replay_dd.report.steps import verdict_word
from replay_dd.report.tried import tried_as_json, tried_in_words
from replay_dd.schedules.model import Program
from replay_dd.schedules.observed.observation import Access, StackFrame, Value
from replay_dd.schedules.story.experiment_results import PREVENTS
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.kinds import LEAKED_PERMIT
from replay_dd.schedules.story.story import HangTold, Step, Story, Turn, called_at, kind_in_words, path_of
from replay_dd.schedules.story.words import short_file
from replay_dd.schedules.virtual import VirtualNotifyAll

_WIDTH = 80
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")  # told as part of their function


def story_as_text(explanation: Explanation, program: Program, turns: Iterable[str] | None = None) -> Iterator[str]:
    """The story, line by line, at most 80 columns wide unless a source line is wider.

    Args:
        explanation: the story, or why there is none.
        program: the program, for its source lines.
        turns: what the threads do, if that is to be told in another form.
    """
    story = explanation.story
    if story is None:
        yield from labelled("story", f"none: {explanation.why_not}")
        return
    things = " and ".join(f"{thing.name} ({thing.what})" for thing in story.things)
    on = f" on {things}" if things else ""
    head = f"{verdict_word(story)}{on}: {kind_in_words(story)}"
    yield from textwrap.wrap(head, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    yield from textwrap.wrap(story.summary, _WIDTH)
    yield from hang_of_story_as_text(story, program)
    if story.hang is None or story.hang.led_by:
        yield from turns if turns is not None else (line for turn in story.turns for line in _turn(turn, program))
    yield from evidence_as_text(explanation, story, program)


def hang_of_story_as_text(story: Story, program: Program) -> Iterator[str]:
    """The hang that a story ends with, line by line; nothing if it ends with another failure."""
    if story.hang is not None:
        yield from threads_as_text(story.hang.hang, story.hang.verdict, program)
        if story.hang.led_by:
            yield from textwrap.wrap(f"What leads there: {story.hang.led_by}", _WIDTH)


def _is_prevented(explanation: Explanation) -> bool:
    """Whether something that was tried prevents the failure; true if nothing was."""
    tried = explanation.tried
    return tried is None or not tried.attempts or any(attempt.verdict == PREVENTS for attempt in tried.attempts)


def _is_help_tried(explanation: Explanation) -> bool:
    """Whether what would help against a hang was tried, and prevents it."""
    attempts = () if explanation.tried is None else explanation.tried.attempts
    return any(isinstance(one.virtual, VirtualNotifyAll) and one.verdict == PREVENTS for one in attempts)


def evidence_as_text(explanation: Explanation, story: Story, program: Program) -> Iterator[str]:
    """What comes after the turns: the passing run, the chain to the failure, locks, and what was tried."""
    told = story.hang
    if story.passes:
        yield from labelled("otherwise", f"it passes {story.passes}")
        wide = max((len(_at(step.access)) for _, step in story.passing), default=0)
        for thread, step in story.passing:
            yield from _step(step, f"    {thread:<5} {_at(step.access):<{wide}}  ", None)
    yield from chain_as_text(explanation.chain, program)
    for line in story.locks:
        yield from labelled("locks", line)
    for line in story.waits:
        yield from labelled("waits", line)
    # Where a race leads there, that must be mended; if anything is known that mends it. But a way out that keeps a
    # permit is wrong whatever leads to it.
    mended = told is not None and told.led_by_kind and _is_prevented(explanation)
    if told is not None and told.verdict.help and not (mended and told.verdict.kind != LEAKED_PERMIT):
        tried = "" if _is_help_tried(explanation) else " (inferred, not tried)"
        yield from labelled("would help", told.verdict.help + tried)
    if story.help:
        yield from labelled("would help", f"{story.help} (inferred, not tried)")
    for label, line in tried_in_words(explanation.tried):
        yield from labelled(label, line)
    yield from links_as_text(explanation.links)
    yield from labelled("seen", "the steps and values above, when both final runs were repeated")
    for line in story.inferred:
        yield from labelled("inferred", line)


def _turn(turn: Turn, program: Program) -> Iterator[str]:
    way, call = "", None
    wide = max(len(_at(step.access)) for step in turn.steps)
    half = len(turn.steps) // 2
    for number, step in enumerate(turn.steps):
        if turn.left_out and number == half:
            yield f"    ... {turn.left_out} more accesses to it ..."
        before, way = way, _way(path_of(step.access))
        if number == 0 or way != before:
            head = f"  thread {turn.thread}  {way}"
            yield from textwrap.wrap(head, _WIDTH, subsequent_indent="      ", break_long_words=False)
        last, call = call, called_at(step.access)
        if call is not None and call != last:
            place = f"{short_file(call.file)}:{call.line}"
            package = step.access.place.file.partition("/")[0].removesuffix(".py")
            text = source_line(replace(step.access.place, file=call.file, path=call.path, line=call.line), program)
            yield f"    {place:<{wide}}  {text}   calls {package}:"
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
    yield from textwrap.wrap(words, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def _at(access: Access) -> str:
    return f"{short_file(access.place.file)}:{access.place.line}"


def _way(path: tuple[StackFrame, ...]) -> str:
    """The way from the user's code to an access: where it begins, and the functions after that."""
    if not path:
        return ""
    path = tuple(frame for frame in path if not frame.function.endswith(_COMPREHENSIONS)) or path
    first, *rest = path
    names = [f"{os.path.basename(first.file)}:{first.line}"] if rest else [f"{first.function}"]
    functions = [frame.function for frame in rest]
    if len(functions) > 4:
        functions = ["...", *functions[-3:]]  # how many is not known: stacks are kept up to a depth
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
        "help": story.help or None,
        "tried": tried_as_json(explanation.tried),
        "links": links_as_json(explanation.links),
        "chain": chain_as_json(explanation.chain, program),
        **({} if story.hang is None else {"hang": _hang_as_json(story.hang, program)}),
    }


def _hang_as_json(told: HangTold, program: Program) -> dict[str, Any]:
    return {**verdict_as_json(told.hang, told.verdict, program), "led_by": told.led_by}


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

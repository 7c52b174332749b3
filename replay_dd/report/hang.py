"""A program that hangs as text and as JSON: its threads, what they have and wait for, with their stacks."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from replay_dd.report.source import source_line
from replay_dd.schedules.hang import DEADLOCK, Hang, HangFrame, HangStep, HangThread
from replay_dd.schedules.model import Ending, Place, Program
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.deadlock import described, took, waits_for
from replay_dd.schedules.story.hanging import verdict_of
from replay_dd.schedules.story.verdict import Verdict
from replay_dd.schedules.story.words import listed

_WIDTH = 80
_LABEL = 13
_MOST_FRAMES = 12
_MOST_OTHERS = 8
_MOST_LINES = 24  # of a circle


def hang_as_text(hang: Hang, ending: Ending, program: Program) -> Iterator[str]:
    """What is known of a run that hung, line by line.

    Args:
        hang: what is known.
        ending: how the run ended.
        program: the program, for its source lines.
    """
    verdict = verdict_of(hang, ending)
    yield from _head(hang, verdict)
    yield from threads_as_text(hang, verdict, program)
    yield from after_threads(hang, verdict)


def hang_in_short(hang: Hang, ending: Ending) -> Iterator[str]:
    """The same in a few lines, without stacks."""
    yield from _head(hang, verdict_of(hang, ending))


def _head(hang: Hang, verdict: Verdict) -> Iterator[str]:
    things = " and ".join(f"{thing.called} ({described(thing)})" for thing in verdict.things)
    head = f"{_title(hang)} on {things}: {verdict.kind}" if things else f"{_title(hang)}: {verdict.kind}"
    yield from textwrap.wrap(head, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    yield from textwrap.wrap(verdict.summary, _WIDTH)


def _title(hang: Hang) -> str:
    return "DEADLOCK" if hang.why == DEADLOCK else "HANG"


def after_threads(hang: Hang, verdict: Verdict) -> Iterator[str]:
    """What else waits, what would help, and what was only inferred."""
    explained = {wait.thread.thread for wait in verdict.waits}
    others = [one for one in hang.threads if one.state == "waits" and one.thread not in explained]
    for thread in others[:_MOST_OTHERS]:
        where = _at(hang.stack(thread.stack))
        yield from _labelled("waits", f"thread {thread.thread} {waits_for(hang, thread)}{where}")
    if len(others) > _MOST_OTHERS:
        yield from _labelled("waits", f"{len(others) - _MOST_OTHERS} more threads")
    if verdict.help:
        yield from _labelled("would help", f"{verdict.help} (inferred, not tried)")
    for line in verdict.inferred:
        yield from _labelled("inferred", line)


def threads_as_text(hang: Hang, verdict: Verdict, program: Program) -> Iterator[str]:
    """The threads that explain the hang: what each has and waits for, with the stacks."""
    alike: dict[object, list[HangThread]] = {}
    for wait in verdict.waits:
        alike.setdefault(_way_to_wait(wait.thread), []).append(wait.thread)
    for first, *others in alike.values():
        yield from _thread(hang, first, program)
        if others:
            so_do = f"so do{'es thread' if len(others) == 1 else ' threads'} {listed(one.thread for one in others)}"
            yield from textwrap.wrap(f"    {so_do}", _WIDTH, subsequent_indent="      ")
    for step in verdict.steps:
        yield from _step(hang, step, program)
    if hang.turns:
        yield from _circle(hang, program)
    if verdict.kind == kinds.LOCK_ORDER:
        for wait in sorted(verdict.waits, key=lambda one: one.thread.thread):
            names = [_called(hang, number) for number in wait.thread.holds if hang.thing(number) in verdict.things]
            names += [wait.thing.called] if wait.thing is not None else []
            yield from _labelled("order", f"thread {wait.thread.thread}: {', then '.join(names)}")


def _way_to_wait(thread: HangThread) -> object:
    """Equal for threads that wait for the same thing in the same calls, which is told once, and have nothing."""
    if thread.holds:
        return thread.thread
    return thread.state, thread.thing, thread.end_of, thread.explanation, thread.stack, thread.started


def _circle(hang: Hang, program: Program) -> Iterator[str]:
    """The lines that come round again and again."""
    yield "  comes round again and again:"
    paths = {frame.file: frame.path for stack in hang.stacks for frame in stack}
    rows = hang.turns if len(hang.turns) <= _MOST_LINES else hang.turns[:_MOST_LINES]
    wide = max(len(f"{os.path.basename(file)}:{line}") for _, file, line in rows)
    for thread, file, line in rows:
        text = source_line(Place(file, paths.get(file, file), line, 0, "", "", False), program)
        yield f"    {thread:<5} {f'{os.path.basename(file)}:{line}':<{wide}}  {text}".rstrip()
    if len(rows) < len(hang.turns):
        yield f"    ... {len(hang.turns) - len(rows)} more lines ..."


def _thread(hang: Hang, thread: HangThread, program: Program) -> Iterator[str]:
    title = f" {thread.title}" if thread.title else ""
    yield from textwrap.wrap(
        f"  thread {thread.thread}{title}{_origin(hang, thread)}", _WIDTH, subsequent_indent="      "
    )
    for number in thread.holds:
        thing = hang.thing(number)
        if thing is None:
            continue
        step = took(hang, thread, thing)
        stack = hang.stack(step.stack if step is not None else thing.taken)
        yield from textwrap.wrap(f"    has {thing.called} since", _WIDTH, subsequent_indent="      ")
        yield from _stack(stack, program)
    if thread.state == "waits":
        yield from textwrap.wrap(f"    {waits_for(hang, thread)}", _WIDTH, subsequent_indent="      ")
    else:
        yield f"    {thread.state} at"
    yield from _stack(hang.stack(thread.stack), program)


def _step(hang: Hang, step: HangStep, program: Program) -> Iterator[str]:
    if step.does == "waits":
        return  # its thread is shown
    told = f" ({'nobody waits for it' if step.detail == 'nobody waits' else step.detail})" if step.detail else ""
    thread = hang.thread(step.thread)
    ended = ", which has ended since" if thread is not None and thread.state == "ended" else ""
    text = f"  before: thread {step.thread}{ended}: {step.does} {_called(hang, step.thing)}{told}"
    yield from textwrap.wrap(text, _WIDTH, subsequent_indent="      ")
    yield from _stack(hang.stack(step.stack), program)


def _called(hang: Hang, number: int) -> str:
    thing = hang.thing(number)
    return thing.called if thing is not None else "?"


def _origin(hang: Hang, thread: HangThread) -> str:
    """From where a thread was started."""
    stack = [frame for frame in hang.stack(thread.started) if frame.counted]
    if not stack:
        return ""
    way = " > ".join(frame.function for frame in reversed(stack[:4]))
    return f", started at {stack[0].file}:{stack[0].line} in {way}"


def _at(stack: Sequence[HangFrame]) -> str:
    frame = next((frame for frame in stack if frame.counted), None)
    return f" at {frame.file}:{frame.line} in {frame.function}" if frame is not None else ""


def folded(stack: Sequence[HangFrame]) -> list[tuple[HangFrame, str]]:
    """The frames of the program, each with the function of the library that it called, if it did.

    A stack without any is told by its innermost frames of the library.
    """
    found: list[tuple[HangFrame, str]] = []
    called = ""
    for frame in stack:
        if frame.counted:
            found.append((frame, called))
            called = ""
        else:
            called = frame.function
    return found or [(frame, "") for frame in stack[:3]]


def _stack(stack: Sequence[HangFrame], program: Program) -> Iterator[str]:
    rows = folded(stack)
    shown = rows if len(rows) <= _MOST_FRAMES else [*rows[: _MOST_FRAMES // 2], *rows[-_MOST_FRAMES // 2 :]]
    wide = max((len(_place(frame)) for frame, _ in shown), default=0)
    for number, (frame, called) in enumerate(shown):
        if len(rows) > len(shown) and number == _MOST_FRAMES // 2:
            yield f"      ... {len(rows) - len(shown)} more calls ..."
        text = source_line(place_of(frame), program)
        where = f"in {frame.function}{f', in {called}' if called else ''}"
        line = f"      {_place(frame):<{wide}}  {text}"
        if not text or len(line) + 3 + len(where) <= _WIDTH:
            yield f"{line}{'   ' if text else ''}{where}"
        else:
            yield line
            yield f"      {'':<{wide}}      {where}"


def _place(frame: HangFrame) -> str:
    return f"{os.path.basename(frame.file)}:{frame.line}"


def place_of(frame: HangFrame) -> Place:
    """A frame as a place."""
    return Place(frame.file, frame.path, frame.line, 0, frame.function, "", False)


def _labelled(label: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(f"{label:<{_LABEL}}{text}", _WIDTH, subsequent_indent=" " * _LABEL, break_on_hyphens=False)


# -- JSON --------------------------------------------------------------------------------------------------------------


def hang_as_json(hang: Hang, ending: Ending, program: Program) -> dict[str, Any]:
    """The member ``hang`` of JSON output."""
    return verdict_as_json(hang, verdict_of(hang, ending), program)


def verdict_as_json(hang: Hang, verdict: Verdict, program: Program) -> dict[str, Any]:
    """The same of a hang whose kind is known already."""
    return {
        "why": hang.why,
        "kind": verdict.kind,
        "summary": verdict.summary,
        "things": [thing.number for thing in verdict.things],
        "threads_in_it": [wait.thread.thread for wait in verdict.waits],
        "help": verdict.help,
        "inferred": list(verdict.inferred),
        "circle_of_lines": [{"thread": name, "file": file, "line": line} for name, file, line in hang.turns],
        "before": [_step_as_json(hang, step, program) for step in verdict.steps],
        "threads": [_thread_as_json(hang, thread, program) for thread in hang.threads],
        "objects": [
            {
                "number": thing.number,
                "kind": thing.kind,
                "name": thing.called,
                "what": thing.what,
                "made": f"{thing.made_file}:{thing.made_line}" if thing.made_file else None,
                "state": thing.state,
                "holders": list(thing.holders),
            }
            for thing in hang.things
        ],
    }


def _thread_as_json(hang: Hang, thread: HangThread, program: Program) -> dict[str, Any]:
    return {
        "thread": thread.thread,
        "name": thread.title,
        "state": thread.state,
        "waits": waits_for(hang, thread) if thread.state == "waits" else None,
        "waits_for": thread.thing if thread.thing >= 0 else None,
        "waits_for_end_of": thread.end_of or None,
        "stack": _stack_as_json(hang.stack(thread.stack), program),
        "started": _stack_as_json(hang.stack(thread.started), program),
        "holds": [
            {"object": number, "since": _stack_as_json(_taken(hang, thread, number), program)}
            for number in thread.holds
        ],
    }


def _taken(hang: Hang, thread: HangThread, number: int) -> tuple[HangFrame, ...]:
    thing = hang.thing(number)
    if thing is None:
        return ()
    step = took(hang, thread, thing)
    return hang.stack(step.stack if step is not None else thing.taken)


def _step_as_json(hang: Hang, step: HangStep, program: Program) -> dict[str, Any]:
    return {
        "thread": step.thread,
        "time": step.time,
        "does": step.does,
        "object": step.thing,
        "detail": step.detail,
        "stack": _stack_as_json(hang.stack(step.stack), program),
    }


def _stack_as_json(stack: Sequence[HangFrame], program: Program) -> list[dict[str, Any]]:
    return [
        {
            "file": frame.file,
            "line": frame.line,
            "function": frame.function,
            "counted": frame.counted,
            "source": source_line(place_of(frame), program),
        }
        for frame in stack
    ]

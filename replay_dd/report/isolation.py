"""The answer of an isolation, for people and for machines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from replay_dd.report.counts import tests_in_words, unresolved_in_words, why_unresolved
from replay_dd.report.log import describe_notes, notes_of
from replay_dd.report.marks import mark, on_one_line
from replay_dd.report.source import source_between, source_line
from replay_dd.schedules.isolate import PROOF_REPLAYS, GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.model import Place, Switch
from replay_dd.schedules.window import Window

FORMAT = "replay-dd schedule isolation"
VERSION = 1


def isolation_as_json(isolation: ScheduleIsolation, passing: Path, failing: Path) -> dict[str, Any]:
    """The object that ``schedules --json`` prints.

    Args:
        isolation: the result.
        passing: where the minimal passing log was written.
        failing: where the minimal failing log was written.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "failure": isolation.signature.text,
        "differences": isolation.differences,
        "differences_left": isolation.differences_left,
        "tests": isolation.tests,
        "tests_requested": isolation.tests_requested,
        "unresolved": [{"tests": tests, "why": why_unresolved(ending)} for ending, tests in isolation.unresolved],
        "switch": None if isolation.switch is None else _switch_as_json(isolation.switch),
        "window": None if isolation.window is None else _window_as_json(isolation.window),
        "minimal_pass": str(passing),
        "minimal_fail": str(failing),
        "seconds": round(isolation.seconds, 3),
        "verified": isolation.verified,
        "complete": isolation.complete,
        "repeats": isolation.repeats,
        "confidence": isolation.confidence,
        "notes": notes_of(isolation.passing, isolation.failing),
    }


def _switch_as_json(switch: GuiltySwitch) -> dict[str, Any]:
    failing, passing = switch.failing, switch.passing
    place = failing.place
    passing_place = None if passing is None else passing.place
    return {
        "thread": failing.thread,
        "to": failing.to,
        "file": None if place is None else place.file,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "function": None if place is None else place.function,
        "instruction": None if place is None else place.instruction,
        "time_fail": failing.time,
        "time_pass": None if passing is None else passing.time,
        "to_pass": None if passing is None else passing.to,
        "file_pass": None if passing_place is None else passing_place.file,
        "line_pass": None if passing_place is None else passing_place.line,
        "column_pass": None if passing_place is None else passing_place.column,
        "instruction_pass": None if passing_place is None else passing_place.instruction,
        "forced": failing.forced,
        "gil_reachable": True if place is None else place.gil_reachable,
    }


def _window_as_json(window: Window) -> dict[str, Any]:
    first, last = window.first.place, window.last.place
    return {
        "time_first": window.first.time,
        "line_first": None if first is None else first.line,
        "file_first": None if first is None else first.file,
        "gil_reachable_first": True if first is None else first.gil_reachable,
        "time_last": window.last.time,
        "line_last": None if last is None else last.line,
        "tests": window.tests,
    }


def isolation_as_text(isolation: ScheduleIsolation, passing: Path, failing: Path) -> Iterator[str]:
    """The answer in words, line by line."""
    switch = isolation.switch
    if switch is None:
        yield "The two runs make the same switches; what differs is not the schedule."
    else:
        yield from _switch_as_text(switch, isolation.window, isolation.failing.program.python)
        if isolation.window is not None:
            yield from _window_as_text(isolation.window)
    yield ""
    yield f"failure      {isolation.signature.text}"
    plural = "" if isolation.differences == 1 else "s"
    yield f"difference   {isolation.differences:,} unit delta{plural}, {isolation.differences_left:,} left"
    yield f"tests        {tests_in_words(isolation.tests, isolation.tests_requested, isolation.seconds)}"
    unresolved = unresolved_in_words(isolation.unresolved)
    if unresolved:
        yield f"unresolved   {unresolved}"
    if isolation.confidence is not None:
        yield (
            f"confidence   {isolation.confidence:.1%} for each schedule that is said to pass: the program is not "
            f"deterministic, so each was run {isolation.repeats} times at most"
        )
    yield f"proof        {_proof(isolation)}"
    yield f"passes       replay-dd replay {passing}"
    yield f"fails        replay-dd replay {failing}"
    yield from describe_notes(isolation.passing, isolation.failing)


def _does(switch: Switch) -> str:
    """What a thread does at a switch; who runs on is a choice, also where it has to wait."""
    if switch.forced and not switch.ended:
        return f"has to wait and thread {switch.to} runs on"
    return f"gives way to thread {switch.to}"


def _switch_as_text(switch: GuiltySwitch, window: Window | None, python: str) -> Iterator[str]:
    failing, passing = switch.failing, switch.passing
    place = failing.place
    passing_place = None if passing is None else passing.place
    yield f"The run FAILS if thread {failing.thread} {_does(failing)} {failing.where}"
    if place is not None:
        others = [passing_place] if window is None else [passing_place, window.first.place]
        yield from _shown(place, marked=any(on_one_line(place, other) for other in others))
    yield f"    before its yield point {failing.time}."
    if passing is None:
        yield f"It PASSES if thread {failing.thread} runs on to the end."
        return
    if passing.place is None:
        until = "has ended" if passing.ended else "has to wait in library code"
        yield f"It PASSES if thread {failing.thread} runs on until it {until} (its yield point {passing.time})."
    else:
        yield f"It PASSES if thread {passing.thread} {_does(passing)} at {passing.place} instead"
        later = passing.time - failing.time if _looks_like(place, passing.place) else 0
        yield from _shown(passing.place, marked=on_one_line(place, passing.place), later=later)
        yield f"    before its yield point {passing.time}."
    if place is not None and passing.place is not None and _lies_between(failing, passing):
        first, last = sorted((place, passing.place), key=lambda one: one.line)
        between = source_between(first, last)
        if between:
            yield "The code between:"
            for number, text in between:
                yield f"    {number:>6}  {text}"
    if place is not None and not failing.forced:
        yield (
            f"Under the GIL of Python {python}, threads can be switched there."
            if place.gil_reachable
            else f"Under the GIL of Python {python}, threads are not switched just there."
        )


def _looks_like(place: Place | None, other: Place) -> bool:
    return place is not None and on_one_line(place, other) and mark(place, 0) == mark(other, 0)


def _shown(place: Place, *, marked: bool, later: int = 0) -> Iterator[str]:
    """The source line of a place; marked where that line alone does not tell which operation is meant."""
    number = f"    {place.line:>6}  "
    yield f"{number}{source_line(place)}"
    if marked:
        yield mark(place, len(number), later)


def _lies_between(failing: Switch, passing: Switch) -> bool:
    """Whether the thread runs the lines between both places between both switches, as far as the order of lines tells.

    The end of a ``with`` stands at its first line, though it comes later.
    """
    if failing.place is None or passing.place is None or failing.place.line == passing.place.line:
        return False
    return (failing.time < passing.time) == (failing.place.line < passing.place.line)


def _window_as_text(window: Window) -> Iterator[str]:
    first, last = window.first.place, window.last.place
    if first is None or last is None:
        return
    yield f"The window: this switch fails already at {first} (yield point {window.first.time})"
    earlier = window.first.time - window.last.time if _looks_like(last, first) else 0
    yield from _shown(first, marked=on_one_line(first, last), later=earlier)
    yield f"and still at {last} (yield point {window.last.time}). More tests for this: {window.tests}."
    if first.gil_reachable and not last.gil_reachable:
        yield "At its beginning threads can be switched under the GIL."


def _proof(isolation: ScheduleIsolation) -> str:
    if isolation.verified:
        if isolation.repeats > 1:
            return f"{isolation.repeats} fresh replays each: the failing one failed again, the passing one never did"
        return f"both runs replayed afresh, {PROOF_REPLAYS} times each, with equal digests"
    if not isolation.complete:
        return "none: the search was stopped, this is the best result so far"
    return "FAILED: a fresh replay of the final runs took another way"

"""Isolated switches and minimal schedules as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from replay_dd.experiment.proof import PROOF_RUNS
from replay_dd.report.carets import mark, on_one_line
from replay_dd.report.isolation import counted, isolation_as_json, proof_in_words, search_as_text
from replay_dd.report.log import describe_log, describe_notes, notes_of
from replay_dd.report.source import source_between, source_line
from replay_dd.report.story import story_as_json
from replay_dd.report.wakes import is_about_sleeping, wakes_as_text
from replay_dd.schedules.failing_range import FailingRange
from replay_dd.schedules.isolate import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.minimize import ScheduleMinimum
from replay_dd.schedules.model import Place, Program, Switch, Wake
from replay_dd.schedules.story.explain import Explanation


def schedules_as_json(
    found: ScheduleIsolation, passing: Path, failing: Path, explanation: Explanation
) -> dict[str, Any]:
    """The object that ``schedules --json`` prints.

    Args:
        found: the result.
        passing: the path of the minimal passing log.
        failing: the path of the minimal failing log.
        explanation: what the threads did to each other.
    """
    return isolation_as_json(
        found.isolation,
        answer={
            "switch": None if found.switch is None else _switch_as_json(found.switch),
            "failing_range": None if found.failing_range is None else _range_as_json(found.failing_range),
            "story": story_as_json(explanation, found.failing.program),
        },
        files={"passing": passing, "failing": failing},
        notes=notes_of(found.passing, found.failing),
    )


def minimum_as_json(found: ScheduleMinimum, log: Path) -> dict[str, Any]:
    """The object that ``minimize --json`` prints; ``log`` is the path of the minimal log."""
    choices = [{"thread": one.thread, "time": one.time, "to": one.to} for one in found.log.triggers]
    return isolation_as_json(
        found.isolation, answer={"choices": choices}, files={"failing": log}, notes=notes_of(found.log)
    )


def _switch_as_json(switch: GuiltySwitch) -> dict[str, Any]:
    failing, passing = switch.failing, switch.passing
    return {
        "thread": failing.thread,
        "to": failing.to,
        "time": failing.time,
        "forced": failing.forced,
        "gil_reachable": True if failing.place is None else failing.place.gil_reachable,
        "place": _place_as_json(failing.place),
        "wakes": _wake_as_json(failing.wake),
        "passes": None
        if passing is None
        else {
            "time": passing.time,
            "to": passing.to,
            "place": _place_as_json(passing.place),
            "wakes": _wake_as_json(passing.wake),
        },
    }


def _wake_as_json(wake: Wake | None) -> dict[str, Any] | None:
    if wake is None:
        return None
    return {"time_out": wake.time_out, "early_s": wake.early_ns / 1e9, "place": _place_as_json(wake.place)}


def _range_as_json(failing_range: FailingRange) -> dict[str, Any]:
    return {
        **{
            name: {
                "time": switch.time,
                "gil_reachable": True if switch.place is None else switch.place.gil_reachable,
                "place": _place_as_json(switch.place),
            }
            for name, switch in (("first", failing_range.first), ("last", failing_range.last))
        },
        "tests": failing_range.tests,
    }


def _place_as_json(place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "function": place.function,
        "instruction": place.instruction,
    }


def schedules_as_text(found: ScheduleIsolation, passing: Path, failing: Path) -> Iterator[str]:
    """The answer as text, line by line, without the story; arguments as for :func:`schedules_as_json`."""
    switch = found.switch
    if switch is None:
        yield "The two runs make the same switches: what differs is not the schedule."
    else:
        if is_about_sleeping(switch):
            yield from wakes_as_text(switch, found.failing, found.passing)
            yield from _gil_as_text(switch.failing, found.failing.program.python)
        else:
            yield from _switch_as_text(switch, found.failing_range, found.failing.program)
        if found.failing_range is not None:
            yield from _range_as_text(found.failing_range, found.failing.program)
    yield ""
    for line in search_as_text(found.isolation):
        yield f"proof        {_proof(found)}" if line.startswith("proof ") else line
    yield f"passes       replay-dd replay {quote(str(passing))}"
    yield f"fails        replay-dd replay {quote(str(failing))}"
    yield from describe_notes(found.passing, found.failing)


def minimum_as_text(found: ScheduleMinimum, log: Path) -> Iterator[str]:
    """The result of a minimization as text; ``log`` is the path of the minimal log."""
    left, before = len(found.log.triggers), found.isolation.deltas_before
    if left == before == 1:
        yield "The only choice of this schedule is needed for the failure."
    else:
        verb = "is" if left == 1 else "are"
        yield f"{left:,} of {counted(before, 'choice')} {verb} needed for the failure."
    if not left:
        yield "The default schedule already fails."
    yield from describe_log(found.log)
    yield f"tests        {found.isolation.tests} run, {found.isolation.seconds:.1f} s"
    yield f"proof        {proof_in_words(found.isolation)}"
    yield f"fails        replay-dd replay {quote(str(log))}"


def _does(switch: Switch) -> str:
    """What a thread does at a switch; even at a forced switch, which thread runs next is a choice."""
    if switch.forced and not switch.ended:
        return f"has to wait and thread {switch.to} runs on"
    return f"gives way to thread {switch.to}"


def _switch_as_text(switch: GuiltySwitch, failing_range: FailingRange | None, program: Program) -> Iterator[str]:
    failing, passing = switch.failing, switch.passing
    place = failing.place
    passing_place = None if passing is None else passing.place
    yield f"The run FAILS if thread {failing.thread} {_does(failing)} {failing.where}"
    if place is not None:
        others = [passing_place] if failing_range is None else [passing_place, failing_range.first.place]
        yield from _shown(place, program, marked=any(on_one_line(place, other) for other in others))
    yield f"    before its yield point {failing.time}."
    if passing is None:
        yield f"It PASSES if thread {failing.thread} runs on to the end."
        return
    if passing.place is None:
        until = "has ended" if passing.ended else "has to wait in library code"
        yield f"It PASSES if thread {failing.thread} runs on until it {until} (its yield point {passing.time})."
    else:
        yield f"It PASSES if thread {passing.thread} {_does(passing)} at {passing.place} instead"
        later = passing.time - failing.time if _looks_like(place, passing.place, program) else 0
        yield from _shown(passing.place, program, marked=on_one_line(place, passing.place), later=later)
        yield f"    before its yield point {passing.time}."
    if place is not None and passing.place is not None and _lies_between(failing, passing):
        first, last = sorted((place, passing.place), key=lambda one: one.line)
        between = source_between(first, last, program)
        if between:
            yield "The code between:"
            for number, text in between:
                yield f"    {number:>6}  {text}"
    yield from _gil_as_text(failing, program.python)


def _gil_as_text(switch: Switch, python: str) -> Iterator[str]:
    if switch.place is not None and not switch.forced:
        yield (
            f"Under the GIL of Python {python}, threads can be switched there."
            if switch.place.gil_reachable
            else f"Under the GIL of Python {python}, threads cannot be switched at this point."
        )


def _looks_like(place: Place | None, other: Place, program: Program) -> bool:
    return place is not None and on_one_line(place, other) and mark(place, program, 0) == mark(other, program, 0)


def _shown(place: Place, program: Program, *, marked: bool, later: int = 0) -> Iterator[str]:
    """The source line of a place; marked if the line alone is ambiguous."""
    number = f"    {place.line:>6}  "
    yield f"{number}{source_line(place, program)}"
    if marked:
        yield mark(place, program, len(number), later)


def _lies_between(failing: Switch, passing: Switch) -> bool:
    """Whether the thread runs the lines between the two places, judging by line order.

    The end of a ``with`` block has the line number of its beginning, although it runs later.
    """
    if failing.place is None or passing.place is None or failing.place.line == passing.place.line:
        return False
    return (failing.time < passing.time) == (failing.place.line < passing.place.line)


def _range_as_text(failing_range: FailingRange, program: Program) -> Iterator[str]:
    first, last = failing_range.first.place, failing_range.last.place
    if first is None or last is None:
        return
    yield f"The failing range: this switch fails already at {first} (yield point {failing_range.first.time})"
    earlier = failing_range.first.time - failing_range.last.time if _looks_like(last, first, program) else 0
    yield from _shown(first, program, marked=on_one_line(first, last), later=earlier)
    yield f"and still at {last} (yield point {failing_range.last.time}). More tests for this: {failing_range.tests}."
    if first.gil_reachable and not last.gil_reachable:
        yield "At its start, threads can be switched under the GIL."


def _proof(found: ScheduleIsolation) -> str:
    isolation = found.isolation
    if isolation.verified and not isolation.circumstance.flaky:
        return f"both runs replayed afresh, {PROOF_RUNS} times each, with equal digests"
    if isolation.proof.made and not isolation.verified and not isolation.circumstance.flaky:
        return "FAILED: a fresh replay of the final runs diverged"
    return proof_in_words(isolation)

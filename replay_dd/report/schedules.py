"""Isolated switches and minimal schedules as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from shlex import quote

from replay_dd.experiment.proof import PROOF_RUNS
from replay_dd.report.carets import mark, on_one_line
from replay_dd.report.isolation import at_most, counted, proof_in_words, search_as_text
from replay_dd.report.log import describe_log, describe_notes
from replay_dd.report.source import source_line
from replay_dd.report.wakes import ends_early, is_about_sleeping, wakes_as_text, wakes_from
from replay_dd.schedules.failures.signature import ChangedMessage, signature_of
from replay_dd.schedules.isolating.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.isolating.gil import BEFORE_SPECIALISATION, WITH_GIL, WITHOUT_GIL
from replay_dd.schedules.isolating.minimize import ScheduleMinimum
from replay_dd.schedules.model import Place, Program, Switch
from replay_dd.schedules.observed.executed import lines_of

_MOST_LINES = 12
_LONGEST_LINE = 200


def schedules_as_text(found: ScheduleIsolation, passing: Path, failing: Path) -> Iterator[str]:
    """The answer as text, line by line, without the story.

    Args:
        found: the result.
        passing: the path of the minimal passing log.
        failing: the path of the minimal failing log.
    """
    switch = found.switch
    if switch is None:
        yield "The two runs make the same switches: what differs is not the schedule."
    else:
        if not found.isolation.complete:
            left = counted(found.isolation.deltas_left, found.isolation.circumstance.delta)
            yield f"Not isolated: the search was stopped with {left} left. The first of the switches that differ:"
        if is_about_sleeping(switch):
            yield from wakes_as_text(switch, found.failing, found.passing)
        else:
            yield from _switch_as_text(found, switch)
        if len(found.choices) > 1 or switch.failing not in found.choices:
            yield from _choices_as_text(found)
        if found.failing_range is not None:
            yield from _range_as_text(found.failing_range, found.failing.program)
        if found.isolation.complete:
            yield from _gil_as_text(found, switch)
        if len(found.ranges.ranges) > 1:
            yield from _ranges_as_text(found)
    yield ""
    for line in search_as_text(found.isolation):
        if line.startswith("tests "):
            line += _more_tests(found)
        yield f"proof        {proof_of(found)}" if line.startswith("proof ") else line
    yield from _message_as_text(found.message)
    yield f"passes       replay-dd replay {quote(str(passing))}"
    yield f"fails        replay-dd replay {quote(str(failing))}"
    yield from describe_notes(found.passing, found.failing)


def minimum_as_text(found: ScheduleMinimum, log: Path) -> Iterator[str]:
    """The result of a minimization as text; ``log`` is the path of the minimal log."""
    left, before = len(found.log.triggers), found.choices_before
    if left == before == 1 and found.isolation.complete:
        yield "The only choice of this schedule is needed for the failure."
    else:
        verb = "is" if left == 1 else "are"
        if found.rewriting_tests:
            told = at_most(found.isolation) + counted(left, "choice")
            yield f"{told[0].upper()}{told[1:]} {verb} needed for the failure; the log has {before:,}."
        else:
            told = f"{at_most(found.isolation)}{left:,} of {counted(before, 'choice')}"
            yield f"{told[0].upper()}{told[1:]} {verb} needed for the failure."
    if not left:
        yield "The default schedule already fails."
    yield from describe_log(found.log)
    more = f"; {found.rewriting_tests} more to find a simpler schedule" if found.rewriting_tests else ""
    yield f"tests        {found.isolation.tests} run, {found.isolation.seconds:.1f} s{more}"
    yield from _message_as_text(found.message)
    yield f"proof        {proof_in_words(found.isolation)}"
    yield f"fails        replay-dd replay {quote(str(log))}"


def does_in_words(switch: Switch) -> str:
    """What a thread does at a switch; even at a forced switch, which thread runs next is a choice."""
    if switch.collects:
        return "collects garbage"
    if switch.to == switch.thread and ends_early(switch):
        return f"goes on, as its {wakes_from(switch)} early,"
    if switch.to == switch.thread:
        return "runs on" if switch.ended else "has to wait, and no thread can run on,"
    early = f", whose {wakes_from(switch)} early," if ends_early(switch) else ""
    if switch.forced and not switch.ended:
        return f"has to wait and thread {switch.to}{early} runs on"
    return f"gives way to thread {switch.to}{early}"


def _switch_as_text(found: ScheduleIsolation, switch: GuiltySwitch) -> Iterator[str]:
    failing, passing, program = switch.failing, switch.passing, found.failing.program
    place = failing.place
    passing_place = None if passing is None else passing.place
    yield f"The run FAILS if thread {failing.thread} {does_in_words(failing)} {failing.where}"
    if place is not None:
        first = None if found.failing_range is None else found.failing_range.first.place
        yield from _shown(place, program, marked=any(on_one_line(place, other) for other in (passing_place, first)))
    to_the_end = failing.to == failing.thread and failing.ended
    if not to_the_end or (passing is not None and failing.time >= passing.time):  # one that was killed told no time
        yield f"    {'after' if to_the_end else 'before'} its yield point {failing.time}."
    if passing is None:
        yield f"It PASSES if thread {failing.thread} runs on to the end."
        return
    if passing.place is None:
        until = "has ended" if passing.ended else "has to wait in library code"
        yield f"It PASSES if thread {failing.thread} runs on until it {until} (its yield point {passing.time})."
    else:
        yield f"It PASSES if thread {passing.thread} {does_in_words(passing)} at {passing.place} instead"
        later = passing.time - failing.time if _looks_like(place, passing.place, program) else 0
        yield from _shown(passing.place, program, marked=on_one_line(place, passing.place), later=later)
        yield f"    before its yield point {passing.time}."
    yield from _code_between(found, switch)


def _code_between(found: ScheduleIsolation, switch: GuiltySwitch) -> Iterator[str]:
    """The lines that the thread executes from one of the two switches to the other."""
    if found.execution is None or switch.passing is None:
        return
    first, last = sorted((switch.failing, switch.passing), key=lambda one: one.time)
    lines = list(lines_of(found.execution.instructions(0, last.time - 1), first.time))
    if lines and last.place is not None and lines[-1].line == last.place.line:
        lines.pop()  # the thread has only begun it where the other switch is
    if len({(place.path, place.line) for place in lines}) < 2:
        return
    yield f"In between, thread {switch.failing.thread} executes:"
    function = ""
    for place in lines[:_MOST_LINES]:
        if place.function != function:
            function = place.function
            yield f"    {place.file}, {function}:"
        yield f"    {place.line:>6}  {source_line(place, found.failing.program)}"
    if len(lines) > _MOST_LINES:
        yield f"            and {counted(len(lines) - _MOST_LINES, 'more line')}"


def _choices_as_text(found: ScheduleIsolation) -> Iterator[str]:
    choices, needed = found.choices, found.needed
    if not choices:
        yield from _choices_of_passing_as_text(found)
        return
    if found.switch is not None and found.switch.failing not in choices:
        yield f"Besides, both runs make {counted(len(choices), 'choice')} that the default schedule does not make:"
    elif needed is not None and needed.minimal:
        yield f"The failure needs all of these {len(choices)} choices; everything else is the default schedule:"
    elif signature_of(found.failing.ending).in_step:
        yield f"The failing run makes {len(choices)} choices, which keep its threads in step:"
    else:
        yield f"The failing run makes {len(choices)} choices; which of them the failure needs was not tried to the end:"
    yield from _list_of_choices(found, choices)


def _choices_of_passing_as_text(found: ScheduleIsolation) -> Iterator[str]:
    """What only the passing run does, where the default schedule fails."""
    ends = None if found.switch is None else found.switch.passing
    others = [one for one in found.passing.switches if not one.by_default and one != ends]
    if not others:
        yield "Apart from that, both runs follow the default schedule."
        return
    yield "Apart from that, the failing run follows the default schedule; the passing run does not:"
    yield from _list_of_choices(found, others)


def _list_of_choices(found: ScheduleIsolation, choices: Sequence[Switch]) -> Iterator[str]:
    for number, choice in enumerate(choices[:_MOST_LINES], 1):
        isolated = " (the switch above)" if found.switch is not None and choice == found.switch.failing else ""
        does = f"{does_in_words(choice)} {choice.where}"
        yield f"  {number}. thread {choice.thread} {does}, yield point {choice.time}{isolated}"
        if choice.place is not None and not isolated:
            yield f"    {choice.place.line:>6}  {source_line(choice.place, found.failing.program)}"
            yield mark(choice.place, found.failing.program, len(f"    {choice.place.line:>6}  "))
    if len(choices) > _MOST_LINES:
        yield f"  and {len(choices) - _MOST_LINES} more"


def _gil_as_text(found: ScheduleIsolation, switch: GuiltySwitch) -> Iterator[str]:
    """Where in the range an interpreter with a GIL can switch."""
    if switch.failing.forced:
        return
    if switch.failing.collects:
        yield "Possible with the GIL: the garbage collector runs finalizers in whichever thread it happens to run."
        return
    gil, python = found.gil, f"Python {found.failing.program.python.removesuffix('t')}"
    if gil.label is None:
        if switch.failing.place is not None:
            yield f"Under the GIL of {python}, it is not known whether threads can be switched there."
        return
    under = {
        WITH_GIL: f"Possible with the GIL of {python}: threads",
        BEFORE_SPECIALISATION: f"Only before specialisation: under the GIL of {python}, threads",
        WITHOUT_GIL: f"Only without the GIL: under that of {python}, threads",
    }[gil.label]
    if found.failing_range is None or gil.positions == found.failing_range.positions == 1:
        can = "can" if gil.reachable else "cannot"
        yield f"{under} {can} be switched there{f': {gil.possible[0][2]}' if gil.possible else ''}."
    elif not gil.possible:
        yield f"{under} cannot be switched anywhere in this range."
    else:
        time, place, why = gil.possible[0]
        share = "every one" if len(gil.possible) == gil.positions else f"{len(gil.possible):,}"
        yield f"{under} can be switched at {share} of its {counted(gil.positions, 'position')}, first at {place}"
        ends = (found.failing_range.first.place, found.failing_range.last.place)
        yield from _shown(
            place, found.failing.program, marked=any(on_one_line(place, end) for end in ends if end != place)
        )
        yield f"    (yield point {time}): {why}."


def _ranges_as_text(found: ScheduleIsolation) -> Iterator[str]:
    ranges = found.ranges
    assert found.switch is not None
    thread = found.switch.failing.thread
    yield (
        f"This turn of thread {thread} has {len(ranges.ranges)} failing ranges; {ranges.tried} of its "
        f"{ranges.positions:,} positions were tried:"
    )
    for number, one in enumerate(ranges.ranges, 1):
        isolated = " (the switch above)" if one.guilty else ""
        other = "" if one.sought else "another failure: "
        first = one.first.place or one.first.where
        last = one.last.place or one.last.where
        if one.positions == 1:
            yield f"  {number}. yield point {one.first.time}, {first}{isolated}"
        else:
            yield f"  {number}. yield points {one.first.time} to {one.last.time}, {first} to {last}{isolated}"
        yield f"       {other}{one.failure}"
    yield "`--range N` isolates in one of them."


def _more_tests(found: ScheduleIsolation) -> str:
    more = [
        (0 if found.needed is None else found.needed.tests, "which choices are needed"),
        (found.ranges.tests, "the failing ranges" if len(found.ranges.ranges) > 1 else "the failing range"),
    ]
    told = [f"{number} more for {what}" for number, what in more if number]
    return f"; {', '.join(told)}" if told else ""


def _message_as_text(message: ChangedMessage | None) -> Iterator[str]:
    if message is None:
        return
    yield "message      with other data than in the log; `--failure TEXT` asks for a failure that contains TEXT"
    lines = zip_longest(message.recorded.splitlines(), message.found.splitlines())
    recorded, found = next((pair for pair in lines if pair[0] != pair[1]), (message.recorded, message.found))
    yield f"               log: {_cut(recorded)}"
    yield f"               now: {_cut(found)}"


def _cut(line: str | None) -> str:
    line = line or "(none)"
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def _looks_like(place: Place | None, other: Place, program: Program) -> bool:
    return place is not None and on_one_line(place, other) and mark(place, program, 0) == mark(other, program, 0)


def _shown(place: Place, program: Program, *, marked: bool, later: int = 0) -> Iterator[str]:
    """The source line of a place; marked if the line alone is ambiguous."""
    number = f"    {place.line:>6}  "
    yield f"{number}{source_line(place, program)}"
    if marked:
        yield mark(place, program, len(number), later)


def _range_as_text(failing_range: FailingRange, program: Program) -> Iterator[str]:
    first, last = failing_range.first.place, failing_range.last.place
    if first is None or last is None:
        return
    if failing_range.positions == 1:
        yield "The failing range is this position alone: just before and after it, the run does not fail in this way."
        return
    earliest = f"{first} (yield point {failing_range.first.time})"
    yield f"The failing range: it still fails if this switch comes as early as {earliest}"
    earlier = failing_range.first.time - failing_range.last.time if _looks_like(last, first, program) else 0
    yield from _shown(first, program, marked=on_one_line(first, last), later=earlier)
    yield f"or as late as {last} (yield point {failing_range.last.time})."


def proof_of(found: ScheduleIsolation) -> str:
    """How the answer was proved."""
    isolation = found.isolation
    if isolation.verified and not isolation.circumstance.flaky:
        return f"both runs replayed afresh, {PROOF_RUNS} times each, with equal digests"
    if isolation.proof.made and not isolation.verified and not isolation.circumstance.flaky:
        return "FAILED: a fresh replay of the final runs diverged"
    return proof_in_words(isolation)

"""The page of an isolated switch: both runs side by side, the story, the search, and how to replay it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shlex import quote

from replay_dd.report.isolation import counted, proof_in_words
from replay_dd.report.page.course import course
from replay_dd.report.page.excerpt import side_by_side
from replay_dd.report.page.frame import Page
from replay_dd.report.page.parts import commands, facts, folded, section, text
from replay_dd.report.page.player import FAILS, PASSES, Panel, player
from replay_dd.report.page.rows import rows_of
from replay_dd.report.page.story import story_section, title_of
from replay_dd.report.page.tried import best_of
from replay_dd.report.schedules import does_in_words
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Access
from replay_dd.schedules.story.explain import Explanation
from replay_dd.schedules.story.story import Story
from replay_dd.schedules.story.words import Letters


def schedules_page(
    found: ScheduleIsolation, explanation: Explanation, passing: Path, failing: Path, report: Iterable[str]
) -> Page:
    """The page that ``schedules --html`` writes.

    Args:
        found: the result.
        explanation: what the threads did to each other.
        passing: the path of the minimal passing log.
        failing: the path of the minimal failing log.
        report: the result as text, line by line.
    """
    story, switch = explanation.story, found.switch
    twins = explanation.twins
    names = names_in(story)
    failing_told: list[Access] = []
    passing_told: list[Access] = []
    if story is not None:
        failing_told = [access for turn in story.turns for step in turn.steps for access in step.accesses]
        passing_told = [access for _, step in story.passing for access in step.accesses]
    called = lock_names(story)
    failing_rows = rows_of(
        *(found.failing, NOTHING_OBSERVED if twins is None else twins.failing),
        names=names,
        letters=_letters(failing_told),
        lit=None if switch is None else switch.failing,
        told=[access.number for access in failing_told if access.thing[0] != "lock"],
        called=called,
    )
    passing_rows = rows_of(
        *(found.passing, NOTHING_OBSERVED if twins is None else twins.passing),
        names=names,
        letters=_letters(passing_told),
        lit=None if switch is None else switch.passing,
        told=[access.number for access in passing_told if access.thing[0] != "lock"],
        called=called,
    )
    one, other, common = side_by_side(failing_rows, replace(passing_rows, lit_words="here instead"))
    endings = signature_of(found.failing.ending).text, signature_of(found.passing.ending).text
    watch, data = player(
        [Panel(FAILS, "Fails", endings[0], one), Panel(PASSES, "Passes", endings[1], other)],
        common=common,
        title="What happened, step by step",
        remark=""
        if twins is not None
        else "Only the switches are shown, as the runs were not observed: " + explanation.why_not + ".",
    )
    isolation = found.isolation
    certain = [
        ("the switch", _guilty(found)),
        ("passes", _instead(found)),
        ("failing range", _range(found)),
        ("proof", proof_in_words(isolation)),
        ("tried", best_of(explanation.tried)),
        ("GIL", _gil(found)),
    ]
    return Page(
        kicker="Not isolated yet" if not isolation.complete else "Isolated" if story is None else story.kind,
        title=_title(found) if story is None else title_of(story),
        summary="" if story is None else story.summary,
        verdict=endings[0],
        sections=(
            section("answer", "The answer", facts((name, words) for name, words in certain if words)),
            watch,
            story_section(explanation, found.failing.program),
            commands(
                [
                    ("fails", f"replay-dd replay {quote(str(failing))}"),
                    ("passes", f"replay-dd replay {quote(str(passing))}"),
                    ("shows the failing run", f"replay-dd show {quote(str(failing))}"),
                ]
            ),
            course(isolation),
            section("report", "The whole report", folded("As text, for an issue or a mail", text(report))),
        ),
        data=data,
    )


def names_in(story: Story | None) -> list[str] | None:
    """The names of the things that a story is about, locks left out: they are followed anyway."""
    if story is None:
        return None
    steps = [step for turn in story.turns for step in turn.steps] + [step for _, step in story.passing]
    accesses = [access for step in steps for access in step.accesses]
    return list(dict.fromkeys(access.name for access in accesses if access.thing[0] != "lock"))


def lock_names(story: Story | None) -> dict[tuple[str, str, int], str]:
    """What a story calls the locks, by the thread, file and line that takes them."""
    turns = [] if story is None else story.turns
    steps = [(turn.thread, access) for turn in turns for step in turn.steps for access in step.accesses]
    return {
        (thread, access.place.path, access.place.line): access.name
        for thread, access in steps
        if access.thing[0] == "lock" and access.does in ("takes", "acquires")
    }


def _letters(accesses: Iterable[Access]) -> Letters:
    """The names of objects as the story gives them."""
    letters = Letters()
    for access in accesses:
        letters.does(access)
    return letters


def _title(found: ScheduleIsolation) -> str:
    switch = found.switch
    if switch is None:
        return "Both runs make the same switches: what differs is not the schedule"
    return f"Thread {switch.failing.thread} {does_in_words(switch.failing)} {switch.failing.where}"


def _guilty(found: ScheduleIsolation) -> str:
    if found.switch is None:
        return ""
    switch = found.switch.failing
    return f"thread {switch.thread} {does_in_words(switch)} {switch.where}, before its yield point {switch.time:,}"


def _instead(found: ScheduleIsolation) -> str:
    if found.switch is None:
        return ""
    later = found.switch.passing
    if later is None:
        return "if that thread runs on to the end"
    return f"if thread {later.thread} gives way {later.where} instead, before its yield point {later.time:,}"


def _range(found: ScheduleIsolation) -> str:
    one = found.failing_range
    if one is None:
        return ""
    first, last = (str(switch.place or switch.where) for switch in (one.first, one.last))
    return f"yield points {one.first.time:,} to {one.last.time:,}: {first if first == last else f'{first} to {last}'}"


def _gil(found: ScheduleIsolation) -> str:
    gil = found.gil
    if gil.reachable is None or (found.switch is not None and found.switch.failing.forced):
        return ""
    python = f"under its GIL, Python {found.failing.program.python.removesuffix('t')}"
    if not gil.possible:
        return f"{gil.label}: {python} cannot switch anywhere in the failing range"
    return f"{gil.label}: {python} can switch at {len(gil.possible):,} of {counted(gil.positions, 'failing moment')}"

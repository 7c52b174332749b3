"""The pages of runs that were recorded or found: a log, a hunt, a minimal schedule."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from replay_dd.report.isolation import counted
from replay_dd.report.log import notes_of
from replay_dd.report.page.course import course
from replay_dd.report.page.excerpt import alone, side_by_side
from replay_dd.report.page.frame import Page
from replay_dd.report.page.markup import Child
from replay_dd.report.page.parts import commands, facts, folded, section, text
from replay_dd.report.page.player import FAILS, PASSES, RUN, Panel, player
from replay_dd.report.page.rows import rows_of
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.hunt import Hunt
from replay_dd.schedules.isolating.answer import find_guilty_switch
from replay_dd.schedules.isolating.minimize import ScheduleMinimum
from replay_dd.schedules.model import Log
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Observation

_ONLY_SWITCHES = (
    "Only the switches are in a log; with --stacks, the run is replayed, and values and locks are shown, too."
)
_NO_PROOF = "No run failed. This is not a proof: other schedules were not tried."
_ONE_SCHEDULE = "The program started no threads, so it has only one schedule."


def log_page(log: Log, path: Path, report: Iterable[str], observation: Observation = NOTHING_OBSERVED) -> Page:
    """The page of a log.

    Args:
        log: the log.
        path: where it is.
        report: the same as text, line by line.
        observation: what was seen when it was replayed.
    """
    return _page_of_run(log, path, report, observation, "A recorded run", ())


def minimum_page(found: ScheduleMinimum, path: Path, report: Iterable[str]) -> Page:
    """The page of a schedule that was reduced to what its failure needs; ``path`` is its log."""
    kicker = f"{counted(len(found.log.triggers), 'choice')} of {found.choices_before:,} needed"
    return _page_of_run(found.log, path, report, NOTHING_OBSERVED, kicker, (course(found.isolation),))


def _page_of_run(
    log: Log, path: Path, report: Iterable[str], observation: Observation, kicker: str, more: Sequence[Child]
) -> Page:
    signature = signature_of(log.ending)
    panel = Panel(
        *(FAILS if signature.failed else RUN, "Fails" if signature.failed else "The run", signature.text),
        alone(rows_of(log, observation)),
    )
    watch, data = player(
        [panel], title="What happened, step by step", remark="" if observation.accesses else _ONLY_SWITCHES
    )
    file = quote(str(path))
    told = facts(
        [
            ("command", shlex.join(log.program.command)),
            ("python", log.program.python),
            ("yield points", f"{log.ending.global_time:,} at {log.settings.granularity}"),
            ("threads", f"{len(log.ending.thread_times):,}"),
            ("switches", f"{len(log.switches):,}, {len(log.triggers):,} of them not by default"),
            ("strategy", log.strategy),
            *(("note", note) for note in notes_of(log)),
        ]
    )
    return Page(
        kicker=kicker,
        title=shlex.join(log.program.command),
        summary="" if signature.failed else f"It ends with {signature.text}.",
        verdict=signature.text if signature.failed else "",
        sections=(
            section("facts", "The run", told),
            watch,
            commands([("repeats this run", f"replay-dd replay {file}"), ("shows it", f"replay-dd show {file}")]),
            *more,
            section("report", "The whole report", folded("As text, for an issue or a mail", text(report))),
        ),
        data=data,
    )


def hunt_page(found: Hunt, passing: Path, failing: Path) -> Page:
    """The page of a hunt: what it met, and the two runs that it kept.

    Args:
        found: what was found.
        passing: the path of the passing log.
        failing: the path of the failing log.
    """
    met = [
        (f"{one.runs:,} of {found.runs:,} runs", one.text)
        for endings in (found.failures, found.passed_over, found.others)
        for one in endings
    ]
    sections: list[Child] = [
        section(
            "met",
            "What it met",
            facts([("runs", f"{found.runs:,} of about {found.yield_points:,} yield points"), *met]),
        )
    ]
    data: dict[str, Any] = {}
    if found.failing is not None and found.passing is not None:
        guilty = find_guilty_switch(found.passing, found.failing)
        rows = [
            replace(rows_of(log, lit=lit), lit_words="the first difference")
            for log, lit in (
                (found.failing, None if guilty is None else guilty.failing),
                (found.passing, None if guilty is None else guilty.passing),
            )
        ]
        one, other, common = side_by_side(*rows)
        endings = [signature_of(log.ending).text for log in (found.failing, found.passing)]
        watch, data = player(
            [Panel(FAILS, "Fails", endings[0], one), Panel(PASSES, "Passes", endings[1], other)],
            common=common,
            title="The two runs, switch by switch",
            remark="These runs may differ in more than the failure needs; the command below isolates that.",
        )
        one_file, other_file = quote(str(passing)), quote(str(failing))
        sections += [
            watch,
            commands(
                [
                    ("isolates the switch", f"replay-dd schedules {one_file} {other_file}"),
                    ("fails", f"replay-dd replay {other_file}"),
                    ("passes", f"replay-dd replay {one_file}"),
                ]
            ),
        ]
    failure = found.failures[0].text if found.failures else ""
    log = found.failing or found.passing
    return Page(
        kicker="A failing schedule" if found.failing is not None else "No failing schedule",
        title="" if log is None else shlex.join(log.program.command),
        summary="" if failure else _ONE_SCHEDULE if found.one_schedule else _NO_PROOF,
        verdict=failure,
        sections=tuple(sections),
        data=data,
    )

"""Isolated switches and minimal schedules as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from replay_dd.report.isolation import isolation_as_json
from replay_dd.report.log import notes_of
from replay_dd.report.story import story_as_json
from replay_dd.schedules.failures.signature import ChangedMessage
from replay_dd.schedules.isolating.answer import GuiltySwitch, ScheduleIsolation
from replay_dd.schedules.isolating.failing_range import FailingRange
from replay_dd.schedules.isolating.gil import WITH_GIL
from replay_dd.schedules.isolating.minimize import ScheduleMinimum
from replay_dd.schedules.model import Place, Switch, Wake
from replay_dd.schedules.story.explain import Explanation

_MOST_POSITIONS = 100


def schedules_as_json(
    found: ScheduleIsolation, passing: Path, failing: Path, explanation: Explanation, test: Path | None = None
) -> dict[str, Any]:
    """The object that ``schedules --json`` prints.

    Args:
        found: the result.
        passing: the path of the minimal passing log.
        failing: the path of the minimal failing log.
        explanation: what the threads did to each other.
        test: the path of the test, if one was written.
    """
    needed = found.needed
    return isolation_as_json(
        found.isolation,
        answer={
            "switch": None if found.switch is None else _switch_as_json(found, found.switch),
            "choices": [_choice_as_json(found, switch) for switch in found.choices],
            "choices_minimal": needed is not None and needed.minimal,
            "failing_range": None if found.failing_range is None else _range_as_json(found, found.failing_range),
            "failing_ranges": [_range_as_json(found, one) for one in found.ranges.ranges],
            "positions": {"tried": found.ranges.tried, "in_turn": found.ranges.positions},
            "more_tests": {"choices": 0 if needed is None else needed.tests, "ranges": found.ranges.tests},
            "message_changed": _message_as_json(found.message),
            "story": story_as_json(explanation, found.failing.program),
        },
        files={"passing": passing, "failing": failing, "test": test},
        notes=notes_of(found.passing, found.failing),
    )


def minimum_as_json(found: ScheduleMinimum, log: Path, test: Path | None = None) -> dict[str, Any]:
    """The object that ``minimize --json`` prints; ``log`` is the path of the minimal log, ``test`` that of a test."""
    choices = [{"thread": one.thread, "time": one.time, "to": one.to} for one in found.log.triggers]
    return isolation_as_json(
        found.isolation,
        answer={
            "choices": choices,
            "choices_before": found.choices_before,
            "rewriting_tests": found.rewriting_tests,
            "message_changed": _message_as_json(found.message),
        },
        files={"failing": log, "test": test},
        notes=notes_of(found.log),
    )


def _message_as_json(message: ChangedMessage | None) -> dict[str, str] | None:
    return None if message is None else message._asdict()


def _switch_as_json(found: ScheduleIsolation, switch: GuiltySwitch) -> dict[str, Any]:
    failing, passing = switch.failing, switch.passing
    return {
        "thread": failing.thread,
        "to": failing.to,
        "time": failing.time,
        "forced": failing.forced,
        "gil_reachable": True if failing.forced or failing.collects else found.gil.reachable,
        "gil_label": WITH_GIL if failing.forced or failing.collects else found.gil.label,
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


def _choice_as_json(found: ScheduleIsolation, switch: Switch) -> dict[str, Any]:
    return {
        "thread": switch.thread,
        "time": switch.time,
        "to": switch.to,
        "forced": switch.forced,
        "isolated": found.switch is not None and switch == found.switch.failing,
        "gil_reachable": True if switch.forced or switch.collects else found.gil_of_choice(switch).reachable,
        "place": _place_as_json(switch.place),
    }


def _range_as_json(found: ScheduleIsolation, failing_range: FailingRange) -> dict[str, Any]:
    gil = found.gil_of(failing_range.first, failing_range.last)
    return {
        **{
            name: {
                "time": switch.time,
                "gil_reachable": found.gil_of(switch).reachable,
                "place": _place_as_json(switch.place),
            }
            for name, switch in (("first", failing_range.first), ("last", failing_range.last))
        },
        "positions": failing_range.positions,
        "failure": failing_range.failure,
        "sought": failing_range.sought,
        "isolated": failing_range.guilty,
        "gil": {
            "reachable": gil.reachable,
            "label": gil.label,
            "positions": len(gil.possible),
            "known_positions": gil.positions,
            "where": [
                {"time": time, "place": _place_as_json(place), "why": why}
                for time, place, why in gil.possible[:_MOST_POSITIONS]
            ],
        },
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

"""A trace keeps to the rules by which Perfetto and chrome://tracing draw it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay_dd.report import trace
from replay_dd.report.trace import TracedRun, trace_of, write_trace
from tests.report.observed import KEPT, LOST, access, run, switch, takes

Event = dict[str, Any]
TWINS = [TracedRun("fails", *LOST, lit=LOST[0].switches[0]), TracedRun("passes", *KEPT, lit=KEPT[0].switches[0])]


def events(*runs: TracedRun, phase: str = "") -> list[Event]:
    return [event for event in trace_of(runs)["traceEvents"] if event["ph"] == phase or not phase]


def test_slices_of_a_thread_lie_within_each_other_or_apart() -> None:
    tracks: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for event in events(*TWINS, phase="X"):
        assert event["dur"] > 0
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for slices in tracks.values():
        for start, stop in slices:
            for other, end in slices:
                assert (
                    stop <= other
                    or end <= start
                    or (start <= other and end <= stop)
                    or (other <= start and stop <= end)
                )


def test_each_arrow_leads_from_one_turn_to_the_next() -> None:
    turns = [event for event in events(*TWINS, phase="X") if event["name"] == "runs"]
    for start in events(*TWINS, phase="s"):
        (end,) = [event for event in events(*TWINS, phase="f") if event["id"] == start["id"]]
        assert end["bp"] == "e"
        for event in (start, end):
            (around,) = [
                turn
                for turn in turns
                if (turn["pid"], turn["tid"]) == (event["pid"], event["tid"])
                and turn["ts"] <= event["ts"] < turn["ts"] + turn["dur"]
            ]
        assert around["tid"] != start["tid"]


def test_both_runs_are_processes_with_named_threads() -> None:
    names = {(event["pid"], event["args"]["name"]) for event in events(*TWINS, phase="M") if "name" in event["args"]}
    assert names == {
        *((1, "fails: python"), (1, "main thread 0"), (1, "thread 0.1"), (1, "thread 0.2")),
        *((2, "passes: python"), (2, "main thread 0"), (2, "thread 0.1"), (2, "thread 0.2")),
    }


def test_values_are_arguments_and_numbers_are_counters() -> None:
    seen = [event for event in events(TWINS[0], phase="X") if "does" in event["args"]]
    assert [(event["name"], event["args"].get("new")) for event in seen] == [
        *(("total: reads 0", None), ("total: reads 0", None), ("total: stores 4", "4"), ("total: stores 4", "4"))
    ]
    assert seen[0]["args"]["at"] == "prog.py:1 in work"
    assert [event["args"]["value"] for event in events(TWINS[0], phase="C")] == [0.0, 0.0, 4.0, 4.0]


def test_a_lock_is_held_from_when_it_is_taken_until_it_is_not() -> None:
    told = run(
        [switch("0.1", 4, "0.2")],
        [takes(1, "0.1"), access(2, "0.1", "reads", "0", held=(9,)), access(3, "0.1", "stores", "1"), takes(5, "0.2")],
    )
    held = [event for event in events(TracedRun("run", *told), phase="X") if event["name"].startswith("held by")]
    assert [(event["name"], event["ts"], event["ts"] + event["dur"]) for event in held] == [
        *(("held by 0.1", 10, 30), ("held by 0.2", 50, 60))
    ]


def test_the_switch_that_makes_the_difference_is_marked() -> None:
    marks = events(*TWINS, phase="i")
    assert [(event["pid"], event["ts"]) for event in marks] == [(1, 19), (2, 29)]


def test_long_runs_are_cut_to_equal_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = [len(events(run)) for run in TWINS]
    monkeypatch.setattr(trace, "_MOST_EVENTS", 21)
    cut = trace_of(TWINS)
    assert [[event["pid"] for event in cut["traceEvents"]].count(number) for number in (1, 2)] == [10, 10]
    assert cut["otherData"]["left out"] == f"{sum(whole) - 20} events"


def test_a_file_holds_what_any_program_may_hold(tmp_path: Path) -> None:
    log, seen = LOST
    seen = replace(seen, accesses=tuple(one._replace(name="\ud800\x1b</script>" * 1_000) for one in seen.accesses))
    write_trace([TracedRun("run", log, seen)], tmp_path / "run.json")
    text = (tmp_path / "run.json").read_text(encoding="ascii")
    names = [event["name"] for event in json.loads(text)["traceEvents"]]
    assert max(len(name) for name in names) < 8_000
    assert any("\\ud800\\x1b</script>" in name for name in names)

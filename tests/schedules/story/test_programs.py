"""Ordinary programs with a race each: what the story says of them, on each interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.report.story import story_as_json, story_as_text
from tests.schedules.story.programs_explained import explained

PROGRAMS = Path(__file__).parent / "programs"

# (program, kind, the things, lines of the interrupted thread, lines of the others, locks that the report must name).
TOLD = [
    ("bank", "lost update", {"Account.balance"}, {12, 14}, {12, 14}, ""),
    ("sessions", "check-then-act", {"Registry._sessions['ada']"}, {17, 19}, {17, 19}, ""),
    ("rectangle", "torn update", {"Window.left", "Window.right"}, {12, 13}, {16, 17}, ""),
    ("connection", "use after close or invalidation", {"Client._wire"}, {21, 24}, {32}, "Client._lock"),
    ("plugin", "read before initialisation", {"Service.handlers"}, {11}, {18}, ""),
    ("doorbell", "missed notification", {"Doorbell._rung", "bell._condition"}, {17, 19}, {12, 14}, ""),
    ("stock", "check-then-act", {"stock['apple']"}, {16, 18}, {16, 18}, ""),
    ("report", "non-repeatable read", {"Orders._by_number"}, {15}, {11}, ""),
    ("config", "torn update", {"settings"}, {9, 12}, {16, 17}, ""),
    ("counterfile", "torn update", {"number"}, {17, 18}, {13, 14}, ""),
    ("tickets", "lost update", {"last"}, {11, 13}, {11, 13}, ""),
    ("singleton", "read before initialisation", {"Pool._instance", "Pool.free"}, {15, 24}, {12, 29}, "Pool._lock"),
    ("jobs", "check-then-act", {"Jobs._waiting"}, {13, 14}, {13, 14}, ""),
    ("cache", "check-then-act", {"Cache.entries['a']"}, {20, 22}, {16}, "Cache.lock"),
    ("evict", "non-repeatable read", {"Bus._subscribers"}, {17, 18}, {14}, ""),
    ("loader", "read before initialisation", {"Table.loaded", "Table.rows[2]"}, {13, 15}, {12, 22}, ""),
    ("default", "lost update", {"Counter.count"}, {11, 12}, {11, 12}, ""),
    ("orders", "non-repeatable read", {"next_id"}, {19, 20}, {19}, ""),
    ("pipeline", "order violation", {"jobs"}, {9}, {13}, ""),
    ("seats", "check-then-act", {"the database"}, {15, 17}, {15, 17}, ""),
    ("stats", "torn update", {"Stats.sum", "Stats.count"}, {15, 17}, {23}, "Stats.lock"),
    ("timer", "early time-out", {"Call.answer"}, {12}, {25, 26}, ""),
    ("transfer", "lock-order deadlock", {"ada.lock", "bob.lock"}, {14, 17}, {14, 17}, ""),
]


@pytest.mark.parametrize(("name", "kind", "things", "own", "others", "lock"), TOLD, ids=[row[0] for row in TOLD])
def test_the_kind_the_thing_and_the_accesses_are_told(
    name: str, kind: str, things: set[str], own: set[int], others: set[int], lock: str, tmp_path: Path
) -> None:
    explanation, program = explained(PROGRAMS / f"{name}.py", tmp_path)
    story = explanation.story
    assert story is not None, explanation.why_not
    assert story.kind == kind
    assert {thing.name for thing in story.things} == things
    interrupted = story.turns[-1].thread
    lines: dict[bool, set[int]] = {True: set(), False: set()}
    for turn in story.turns:
        assert turn.path, "each turn has its call path"
        lines[turn.thread == interrupted] |= {step.access.place.line for step in turn.steps}
    assert own <= lines[True]
    assert others <= lines[False]
    assert story.passing, "the passing run is shown beside it"
    text = list(story_as_text(explanation, program))
    assert not lock or any(lock in line for line in text if line.startswith("locks"))
    sources = {line.strip() for line in (tmp_path / f"{name}.py").read_text().splitlines() if len(line) > 50}
    assert all(any(source in line for source in sources) for line in text if len(line) > 80), "only sources are wider"
    assert story_as_json(explanation, program)["kind"] == kind

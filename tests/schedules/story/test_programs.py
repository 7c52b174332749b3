"""Ordinary programs with a race each: what the story says of them, on each interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.report.story import story_as_json, story_as_text
from replay_dd.schedules.story.chain import MOST_STEPS
from tests.conftest import first_or_other
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
    ("report", "modified while iterated", {"Orders._by_number"}, {15}, {11}, ""),
    ("config", "torn update", {"settings"}, {9, 12}, {16, 17}, ""),
    ("counterfile", "torn update", {"number"}, {17, 18}, {13, 14}, ""),
    ("tickets", "lost update", {"last"}, {11, 13}, {11, 13}, ""),
    ("singleton", "read before initialisation", {"Pool._instance", "Pool.free"}, {15, 24}, {12, 29}, "Pool._lock"),
    ("jobs", "check-then-act", {"Jobs._waiting"}, {13, 14}, {13, 14}, ""),
    ("cache", "check-then-act", {"Cache.entries['a']"}, {20, 22}, {16}, "Cache.lock"),
    ("evict", "non-repeatable read", {"Bus._subscribers"}, {17, 18}, {14}, ""),
    ("loader", "read before initialisation", {"Table.loaded", "Table.rows[2]"}, {13, 15}, {12, 22}, ""),
    ("default", "lost update", {"Counter.count"}, {11, 12}, {11, 12}, ""),
    ("orders", "non-atomic update and read", {"next_id"}, {19, 20}, {19}, ""),
    ("pipeline", "order violation", {"jobs"}, {9}, {13}, ""),
    ("seats", "check-then-act", {"the database"}, {15, 17}, {15, 17}, ""),
    ("stats", "torn update", {"Stats.sum", "Stats.count"}, {15, 17}, {23}, "Stats.lock"),
    ("timer", "early time-out", {"Call.answer"}, {12}, {25, 26}, ""),
    ("hits", "lost update", {"Counter.hits['home']"}, {11, 13}, {11, 13}, ""),
    ("lazy", "read before initialisation", {"Loader.ready", "Loader.table"}, {13, 14}, {12, 21}, ""),
    ("overdraw", "check-then-act", {"balance"}, {12, 14}, {12, 14}, ""),
    ("ordered", "order violation", {"Shop.currency"}, {14}, {18}, ""),
    ("transfer", "lock-order deadlock", {"ada.lock", "bob.lock"}, {14, 17}, {14, 17}, ""),
]
HERE = TOLD[:: first_or_other(1, 3)]

# For each program: which two lines turned round make it pass, for each link that is proved.
PROVED: dict[str, set[tuple[int, int]]] = {
    "bank": {(12, 14)},
    "sessions": {(17, 19), (20, 19)},
    "rectangle": {(12, 16), (17, 13)},
    "connection": {(21, 32), (32, 24)},
    "plugin": {(18, 11)},
    "stock": {(16, 18), (18, 18)},
    "report": {(15, 11), (11, 15)},
    "config": {(9, 17), (17, 12)},
    "tickets": {(11, 13)},
    "jobs": {(13, 14)},
    "cache": {(20, 16), (16, 22)},
    "evict": {(17, 14), (14, 18)},
    "loader": {(13, 12), (22, 15)},
    "default": {(11, 12)},
    "seats": {(15, 17)},
    "stats": {(15, 23), (23, 17)},
    "timer": {(26, 12)},
    "hits": {(11, 13)},
    "overdraw": {(12, 14)},
    "ordered": {(18, 14)},
}
# What the first and the last line of the chain say, and of the last one, what the passing run has there.
CHAINS = {
    "bank": ("0.1:12 Account.balance: reads 110", "0:38 Account.balance: finds 130, 130 == 160", "160 == 160"),
    "sessions": ("0.1:19 Registry._sessions['ada']: stores Session B over Session A", "0:39 2 == 3", "3 == 3"),
    "rectangle": ("0.2:17 Window.right: reads 15", "0:42 [15] == [10]", "[10] == [10]"),
    "connection": ("0.2:32 Client._wire: stores None over Wire A", "0.1:24 Client._wire: reads None", "reads Wire A"),
    "stock": ("0.2:18 stock['apple']: stores 0 over 1", "0:33 stock['apple']: finds -1, -1 >= 0", "0 >= 0"),
    "loader": (
        "0.2:22 Table.rows[2]: finds nothing there",
        "0.2:22 Table.rows[2]: finds nothing there",
        "reads 'row 2'",
    ),
    "stats": ("0.2:23 Stats.count: reads 1", "0:42 seen[0]: finds 20.0, 20.0 in (None, 10)", "10.0 in (None, 10)"),
    "timer": ("0:26 Call.answer: finds None", "0:26 Call.answer: finds None", "finds 'abcde'"),
    "hits": ("0.1:11 Counter.hits['home']: reads 0", "0:36 1 == 2", "2 == 2"),
    "lazy": ("0.2:21 Loader.table: reads None", "0:37 ", ""),
    "overdraw": ("0.2:12 balance: finds 100, 100 >= 80", "0:27 ", ""),
    "ordered": ("0.2:18 Shop.currency: reads 'EUR', text = '5 EUR'", "0:31 ", ""),
}


@pytest.mark.parametrize(("name", "kind", "things", "own", "others", "lock"), HERE, ids=[row[0] for row in HERE])
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
    proved = {(link.first.place.line, link.second.place.line) for link in explanation.links.tried if link.proved}
    assert PROVED.get(name, set()) <= proved
    assert len([line for line in text if line.startswith("proved ")]) == sum(
        one.proved for one in explanation.links.tried
    )
    if name in CHAINS:
        chain = explanation.chain
        first, last, passing = CHAINS[name]
        assert chain.whole, chain.lost
        told = [f"{step.thread}:{step.place.line} {step.words}" for step in chain.steps]
        assert told[0].startswith(first)
        assert told[-1] == last
        assert chain.steps[-1].passing.endswith(passing)
        assert len(told) <= MOST_STEPS
        assert any(f"{chain.ending}" in line for line in text)

"""Ordinary programs that hang: what kind it is said to be, over what, who has it since where and who waits for it."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.report.hangs import hang_as_json, hang_as_text
from replay_dd.report.story import story_as_text
from replay_dd.schedules.hang import Hang
from replay_dd.schedules.model import Program, Settings, Trigger
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program, run_target
from replay_dd.schedules.story.hanging import verdict_of
from tests.schedules.story.programs_explained import explained

PROGRAMS = Path(__file__).parent / "hangs"
MOST_SEEDS = 100

# Schedules under which they hang, beside the default one; at other thread times under another Python.
TRIGGERS = {
    "transfer": [("0.1", 14, "0.2")],
    "doorbell": [("0", 5, "0.1")],
    "feed": [("0.1", 6, "0.2")],
    "ring": [("0", 29, "0.2"), ("0.2", 15, "0.1"), ("0.1", 15, "0.3")],
    "registry": [("0.1", 17, "0.2")],
    "callback": [("0", 16, "0.1")],
    "imports": [("0.1", 14, "0.2")],
    "twice": [("0", 29, "0.2"), ("0.2", 49, "0.1"), ("0.1", 49, "0.3")],
    "leak": [("0.1", 7, "0.2")],
    "closing": [("0", 9, "0.1")],
    "signal_light": [("0", 13, "0.1"), ("0", 20, "0.1"), ("0.1", 20, "0")],
    "permits": [("0.1", 9, "0.2")],
    "promise": [("0", 13, "0.1")],
    "impatient": [("0.1", 10, "0")],
    "slots": [("0.1", 28, "0.1")],
}

# (program, kind, the things, lines at which a lock is held, lines at which threads wait, what else must be said).
TOLD = [
    ("transfer", "lock-order deadlock", {"bank.accounts[0].lock", "bank.accounts[1].lock"}, {23}, {28}, ""),
    ("doorbell", "missed notification", {"gate._opened"}, set(), {18}, "doorbell.py:14"),
    ("feed", "missing producer", {"values"}, set(), {32}, "at feed.py:16 in parse"),
    ("pool", "starved thread pool", {"left A", "left B"}, set(), {21}, "(0.1 and 0.2)"),
]
ONCE = [
    ("chapters", "starved thread pool", {"futures[0]", "futures[1]"}, set(), {15}, "(0.1 and 0.2)"),
    (
        "ring",
        "lock-order deadlock",
        {f"workshop.machines['{name}'].busy" for name in ("saw", "drill", "lathe")},
        {19},
        {21},
        "",
    ),
    ("registry", "lock-order deadlock", {"registry._mutex", "listener._guard"}, {17, 32}, {13, 28}, ""),
    ("callback", "lock-order deadlock", {"session.state", "timers._lock"}, {23, 40}, {19, 36}, "before the call at"),
    (
        "audit",
        "lock-order deadlock",
        {"members.guard", "Counting.lock"},
        {13},
        {15, 18},
        "before the call at audit.py:15",
    ),
    ("imports", "lock-order deadlock", {"loader._locks['shapes']", "loader._locks['colours']"}, {16}, {16}, ""),
    ("twice", "self-deadlock", {"cache._lock"}, {17}, {13}, "cannot be taken twice"),
    ("reload", "self-deadlock", {"server.guard"}, {19}, {15}, "a signal came while it had it"),
    ("slots", "self-deadlock", {"slots.guard"}, {12}, {17}, "and that called `Cursor.__del__` (slots.py:27)"),
    ("alarm_list", "self-deadlock", {"alarms.guard"}, {22}, {18}, "or make it an RLock"),
    ("last_words", "self-deadlock", {"journal.guard"}, {18}, {14}, "or make it an RLock"),
    ("leak", "lock never released", {"shelf.guard"}, {19}, {19}, "has left Shelf.take"),
    ("closing", "deadlock of a lock held over a wait", {"service._lock"}, {28}, {24, 30}, "thread 0.1 to end"),
    (
        "stock",
        "deadlock of a lock held over a wait",
        {"warehouse._door", "warehouse._arrivals"},
        {18},
        {14, 19},
        "from its code",
    ),
    ("signal_light", "missed notification", {"worker.wanted"}, set(), {18}, "thread 0.1 cleared it again"),
    ("permits", "permit never released", {"downloads._permits"}, set(), {13}, "permits.py:13"),
    ("together", "barrier with a thread missing", {"start_line"}, set(), {20}, "2 of 3 threads are there"),
    ("promise", "future never completed", {"answer"}, set(), {16}, ""),
    ("bounded", "missing consumer", {"checked"}, set(), {15}, "is too large at bounded.py:30"),
    ("mailer", "missing producer", {"mailer.letters"}, set(), {16}, "took the last one"),
    ("asleep", "wait for what never comes", set(), set(), {27}, "gave it work without waking it"),
    ("counter", "missed notification", {"counter.changed"}, set(), {14, 21}, "`notify_all()`"),
    ("loop_thread", "blocked event loop", {"future A"}, set(), {21, 37}, "`await`"),
    ("pipe", "communication deadlock", set(), set(), {26, 29}, "data on descriptor"),
    ("ledger", "wait for what never comes", {"ledger.done"}, set(), {22}, "database is locked at ledger.py:27"),
    ("impatient", "early time-out", {"call.ended"}, set(), {22}, "call.answered had timed out"),
    ("lazy_import", "import deadlock", {"the import of settings_module"}, set(), {34}, ""),
]


def hung(name: str, folder: Path) -> tuple[TargetRun, Program]:
    """A run of a program that hangs, with all that is known of it."""
    shutil.copy(PROGRAMS / f"{name}.py", folder)
    program = describe_program((sys.executable, f"{name}.py"), directory=folder)
    triggers = tuple(Trigger(*trigger) for trigger in TRIGGERS.get(name, ()))
    plans = [Plan("replay", triggers=triggers), *(Plan("random", {"seed": seed}) for seed in range(MOST_SEEDS))]
    for plan in plans:
        run = run_target(program, Settings(), replace(plan, history=True), time_limit_s=60)
        if run.log.ending.deadlock:
            return run, run.log.program
    raise AssertionError("no run hung")


def lines(hang: Hang, stacks: list[int]) -> set[int]:
    """The lines of the program at which these stacks stand."""
    found = [next((frame for frame in hang.stack(number) if frame.counted), None) for number in stacks]
    return {frame.line for frame in found if frame is not None}


def check(row: tuple[str, str, set[str], set[int], set[int], str], folder: Path) -> None:
    name, kind, things, holds, waits, words = row
    run, program = hung(name, folder)
    ending, hang = run.log.ending, run.log.ending.hang
    assert hang is not None
    verdict = verdict_of(hang, ending)
    assert verdict.kind == kind
    assert {thing.called for thing in verdict.things} == things
    held = [thing.taken for wait in verdict.waits for thing in map(hang.thing, wait.thread.holds) if thing is not None]
    assert lines(hang, held) <= holds
    assert bool(held) == bool(holds)
    waiting = lines(hang, [wait.thread.stack for wait in verdict.waits])
    assert waiting
    assert waiting <= waits
    text = list(hang_as_text(ending, program))
    assert words in " ".join(" ".join(text).split())
    for wait in verdict.waits:
        if wait.thread.thread != "0":
            assert any(
                (f"thread {wait.thread.thread} " in line and "started at" in f"{line} {following}")
                or ("so do" in line and wait.thread.thread in re.findall(r"[0-9.]*[0-9]", line))  # as one that was told
                for line, following in zip(text, [*text[1:], ""], strict=True)
            )
    source = (folder / f"{name}.py").read_text().splitlines()
    for line in waiting:
        assert any(f"{name}.py:{line}" in shown and source[line - 1].strip() in shown for shown in text)
    told = hang_as_json(ending, program)
    assert told is not None
    assert told["kind"] == kind


@pytest.mark.parametrize("row", TOLD, ids=[row[0] for row in TOLD])
def test_what_the_threads_have_and_wait_for_is_told(
    row: tuple[str, str, set[str], set[int], set[int], str], tmp_path: Path
) -> None:
    check(row, tmp_path)


@pytest.mark.once
@pytest.mark.parametrize("row", ONCE, ids=[row[0] for row in ONCE])
def test_every_kind_of_hang_is_told(row: tuple[str, str, set[str], set[int], set[int], str], tmp_path: Path) -> None:
    check(row, tmp_path)


def without_end(name: str, folder: Path, time_limit_s: float | None) -> tuple[Hang, list[str]]:
    """What is known of a program that the default schedule lets run for ever, and the same as text.

    Args:
        name: of the program.
        folder: where it is run.
        time_limit_s: when it is killed; None if it shall end before.
    """
    if not (folder / f"{name}.py").exists():
        shutil.copy(PROGRAMS / f"{name}.py", folder)
    program = describe_program((sys.executable, f"{name}.py"), directory=folder)
    run = run_target(program, Settings(), Plan(), time_limit_s=time_limit_s or 120)
    ending = run.log.ending
    assert ending.timed_out is (time_limit_s is not None)
    assert ending.hang is not None, ending.notes
    return ending.hang, [" ".join(line.split()) for line in hang_as_text(ending, run.log.program)]


@pytest.mark.once
@pytest.mark.parametrize("counts", [False, True], ids=["the same state", "one that counts"])
def test_a_livelock_is_told_from_the_lines_that_come_round_again(tmp_path: Path, counts: bool) -> None:
    if counts:
        program = (PROGRAMS / "polite.py").read_text()
        counting = program.replace("self.meals = 0", "self.meals = self.tries = 0")
        counting = counting.replace("self.first.release()", "self.tries += self.first.release() is None")
        (tmp_path / "polite.py").write_text(counting)
    hang, text = without_end("polite", tmp_path, 2 if counts else None)
    # The time limit comes at any moment: the headline names the forks held at that one, so it may take two lines.
    headline = text[0] if ": " in text[0] else f"{text[0]} {text[1]}"
    assert headline.startswith("HANG")
    assert headline.endswith(": livelock")
    assert {(thread, line) for thread, _, line in hang.turns} >= {
        (f"0.{one}", line) for one in (1, 2) for line in (16, 18)
    }
    assert any("0.2 polite.py:18 if self.second.acquire(blocking=False):" in line for line in text)


@pytest.mark.once
def test_a_wait_for_a_child_is_told_with_its_stack(tmp_path: Path) -> None:
    _, text = without_end("child", tmp_path, 2)
    assert text[0] == "HANG: wait for something outside"
    assert "child.py:20 child.wait() in Job.run, in Popen.wait" in text
    assert any("communicate()" in line for line in text)


@pytest.mark.once
def test_what_was_not_noted_is_not_denied(tmp_path: Path) -> None:
    run, _ = hung("mailer", tmp_path)
    ending = run.log.ending
    assert ending.hang is not None
    bare = verdict_of(replace(ending.hang, with_history=False, steps=()), ending)
    assert bare.kind == "missing producer"
    assert "Nobody" not in str(bare)


@pytest.mark.once
def test_that_a_flag_ends_no_wait_is_what_would_help(tmp_path: Path) -> None:
    explanation, program = explained(PROGRAMS / "mailer.py", tmp_path)
    text = " ".join(" ".join(story_as_text(explanation, program)).split())
    assert text.count("would help") == 1
    assert "would help put a sentinel into Mailer.letters when Mailer.stopping is set" in text


@pytest.mark.once
def test_a_lost_update_leads_to_a_notification_that_seems_missed(tmp_path: Path) -> None:
    explanation, program = explained(PROGRAMS / "readers.py", tmp_path)
    text = " ".join(" ".join(story_as_text(explanation, program)).split())
    assert "RWLock._readers (attribute of one RWLock): wait for what never comes after a lost update" in text
    story = explanation.story
    assert story is not None
    assert 16 in {step.access.place.line for turn in story.turns for step in turn.steps}


@pytest.mark.once
def test_a_call_that_does_not_wake_the_loop_is_told_with_its_line(tmp_path: Path) -> None:
    explanation, program = explained(PROGRAMS / "ticker.py", tmp_path)
    text = " ".join(" ".join(story_as_text(explanation, program)).split())
    assert "(one _UnixSelectorEventLoop): call from outside of the event loop" in text
    assert "What leads there: Thread 0.1 calls call_soon() of Ticker.loop (ticker.py:13)" in text
    assert text.count("`loop.call_soon_threadsafe(...)` at ticker.py:13") == 1


@pytest.mark.once
def test_an_order_of_locks_is_shown_with_both_or_not_at_all(tmp_path: Path) -> None:
    story = explained(PROGRAMS / "audit.py", tmp_path)[0].story
    assert story is not None
    assert not story.passing  # what the library does with its own lock was not noted

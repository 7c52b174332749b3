"""Tests that are flaky because of random numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.pytest_plugin import chance
from replay_dd.pytest_plugin.chance import decided_by_chance
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.target import Plan, describe_program, run_target

pytestmark = pytest.mark.once


def program(folder: Path, condition: str) -> Program:
    """One that fails unless a condition holds of the numbers that it draws in a thread."""
    source = "import random, threading\n\ndrawn = []\n"
    source += "thread = threading.Thread(target=lambda: drawn.append(random.getrandbits(64)))\n"
    (folder / "prog.py").write_text(f"{source}thread.start()\nthread.join()\nassert {condition}, drawn\n")
    return describe_program((sys.executable, "prog.py"), directory=folder)


@pytest.mark.parametrize(
    ("condition", "fails", "words"),
    [
        ("drawn != [{first}]", True, "with other random numbers, it passes"),
        ("drawn == [{first}]", False, "with other random numbers, it fails"),
        ("not drawn", True, ""),
        ("drawn", False, ""),
    ],
)
def test_other_random_numbers_show_that_chance_decides(condition: str, fails: bool, words: str, tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    first = first_number(tmp_path / "first")
    told = decided_by_chance(
        *(program(tmp_path, condition.format(first=first)), Settings()),
        fails=fails,
        time_limit_s=60,
        seconds=600,
        is_over=lambda: False,
    )
    assert words in told
    assert bool(told) == bool(words)


@pytest.mark.parametrize(("seconds", "over"), [(600.0, True), (0.0, False)])
def test_nothing_is_tried_when_the_time_is_over(
    seconds: float, over: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(chance, "run_target")
    told = decided_by_chance(
        *(program(tmp_path, "drawn"), Settings()),
        fails=True,
        time_limit_s=60,
        seconds=seconds,
        is_over=lambda: over,
    )
    assert told == ""


def first_number(folder: Path) -> str:
    """What is drawn with the settings as they are."""
    run = run_target(program(folder, "print(drawn[0])"), Settings(), Plan("default"), time_limit_s=60)
    return run.output.decode().split()[0]

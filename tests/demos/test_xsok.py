"""A crash that nobody planted, in a game that nobody here wrote: xsok 1.02 from Debian."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GAME = Path("/usr/games/xsok")
TOOL = Path(sys.executable).with_name("replay-dd")


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    for program in ("Xvfb", "openbox", GAME):
        if shutil.which(program) is None:
            pytest.skip(f"NO {program}: the crash of a real program is not isolated (apt install xvfb openbox xsok)")
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run([TOOL, *arguments], cwd=folder, env=os.environ, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_few_actions_of_a_monkey_crash_it(workplace: Path) -> None:
    # A short session: with the long ones of the demo the tests would take longer than they are worth.
    found = run(workplace, "monkey", "-o", "session.log", "--seed", "400", "--actions", "60", "--", str(GAME))
    assert "killed by SIGSEGV in xsok" in found
    answer = json.loads(
        run(workplace, "events", "session.log", "-o", "minimal.log", "--strip", "minimal.html", "--json")
    )
    assert answer["answer"]["ending"]["signal"] == 11
    assert 1 <= len(answer["answer"]["actions"]) <= 6
    assert len(answer["answer"]["actions"]) <= answer["answer"]["actions_before"]
    proof = answer["proof"]["failing"]
    assert proof["failed"] == proof["runs"] > 0
    page = (workplace / "minimal.html").read_text(encoding="utf-8")
    assert page.count("<image ") == len(answer["answer"]["actions"])
    assert "xtest.fake_input" in page

"""The command line of a circumstance of the user's own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """\
from replay_dd import Items, main_for
main_for(Items("abcdef", lambda items: items, lambda run: "it fails" if set({needed!r}) <= set(run) else None))
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(needed="be"))
    return path


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True, timeout=120)


def test_the_answer_in_words(script: Path) -> None:
    done = run(script)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:3] == ["The failure needs 2 items of 6:", "  b", "  e"]
    assert "failure      it fails" in lines
    assert "proof        fresh runs: 3 of 3 fail" in lines


def test_the_answer_for_machines(script: Path) -> None:
    done = run(script, "--json", "--jobs", "2")
    answer = json.loads(done.stdout)
    assert (answer["format"], answer["deltas"]["words"]) == ("replay-dd isolation", ["b", "e"])


def test_a_search_can_be_stopped(script: Path) -> None:
    answer = json.loads(run(script, "--json", "--max-tests", "1").stdout)
    assert (answer["stopped_by"], answer["proof"]["holds"]) == ("tests", False)


def test_what_goes_wrong_is_told_in_words(script: Path) -> None:
    wrong = run(script, "--jobs", "none")
    assert (wrong.returncode, "[usage]" in wrong.stderr) == (2, True)
    script.write_text(SCRIPT.format(needed="xy"))
    passing = run(script)
    assert (passing.returncode, "[does-not-fail]" in passing.stderr) == (3, True)
    assert "Traceback" not in wrong.stderr + passing.stderr

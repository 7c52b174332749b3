"""The first demo: the switch is found in the function that reads, modifies and rewrites the file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.demos.search import hunt_and_isolate, line_of, most_tests

USERS = ["alice:wonderland", "bob:builder"]


@pytest.fixture
def program(project: Path, tmp_path: Path) -> Path:
    """A copy of the program in its own folder, as the demo runs it."""
    source = project / "demos" / "htpasswd" / "htpasswd.py"
    folder = tmp_path / "work"
    folder.mkdir()
    copy = folder / source.name
    copy.write_text(source.read_text())
    return copy


def test_run_as_usual_it_passes(program: Path) -> None:
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, program.name, "-c", "users.htpasswd", "--verify", *USERS],
            cwd=program.parent,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "2 passwords set in users.htpasswd\n", "")
    lines = (program.parent / "users.htpasswd").read_text().splitlines()
    assert sorted(line.split(":")[0] for line in lines) == ["alice", "bob"]
    assert all(line.split(":")[1].startswith("$7$") for line in lines)


def test_a_lost_update_is_noticed(program: Path) -> None:
    lose = "import htpasswd, sys; htpasswd.set_entry = lambda *arguments: None; htpasswd.main()"
    done = subprocess.run(
        [sys.executable, "-c", lose, "-c", "users.htpasswd", "--verify", *USERS],
        cwd=program.parent,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert "password verification failed for alice, bob" in done.stderr


def test_the_guilty_switch_lies_between_reading_and_writing(program: Path, tmp_path: Path) -> None:
    command = ["python", program.name, "-c", "users.htpasswd", "--verify", *USERS]
    answer = hunt_and_isolate(command, program.parent, tmp_path / "found", "--fresh-copy")

    assert answer["proof"]["holds"] is True
    assert answer["tests"]["run"] <= most_tests(answer["deltas"]["before"])
    place = answer["answer"]["switch"]["place"]
    assert Path(place["file"]).name == "htpasswd.py"
    assert place["function"].startswith("set_entry")
    source = program.read_text()
    reading = line_of(source, "with open(path) as file:", after="def set_entry")
    writing = line_of(source, "file.writelines(lines)", after="def set_entry")
    assert reading <= place["line"] <= writing

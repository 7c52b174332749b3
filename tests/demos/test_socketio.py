"""The second demo: the switch is found in the library, between a check and the assignment that it guards."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.demos.search import hunt_and_isolate, line_of, most_tests

base_manager = pytest.importorskip("socketio.base_manager")


@pytest.fixture
def folder(project: Path) -> Path:
    return project / "demos" / "socketio"


def test_run_as_usual_it_passes(folder: Path) -> None:
    for _ in range(5):
        done = subprocess.run([sys.executable, "join_room.py"], cwd=folder, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_guilty_switch_lies_in_the_library(folder: Path, tmp_path: Path) -> None:
    answer = hunt_and_isolate(["python", "join_room.py"], folder, tmp_path / "found")

    assert answer["proof"]["holds"] is True
    assert answer["tests"]["run"] <= most_tests(answer["deltas"]["before"])
    place = answer["answer"]["switch"]["place"]
    assert Path(place["file"]).name == "base_manager.py"
    assert place["function"].endswith("basic_enter_room")
    source = Path(base_manager.__file__).read_text()
    first = line_of(source, "if namespace not in self.rooms:", after="sid is not connected to requested namespace")
    last = line_of(source, "self.rooms[namespace][room] = bidict()")
    assert first <= place["line"] <= last

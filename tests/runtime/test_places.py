"""How places are named."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path

import pytest

from replay_dd.pytest_plugin import one_run
from replay_dd.schedules.runtime.points.places import COUNTED, EXCLUDED, LIBRARY, Places


@pytest.mark.parametrize(
    ("name", "shown"),
    [("made_{pid}", "made_PID"), ("{pid}/b{pid}", "PID/bPID"), ("x1{pid}", "x1{pid}"), ("{pid}0_{pid}", "{pid}0_PID")],
)
def test_the_number_of_the_process_in_the_name_of_a_new_file(name: str, shown: str, tmp_path: Path) -> None:
    new = tmp_path / f"{name.format(pid=os.getpid())}.py"
    places = Places(str(tmp_path), (), (), command_line=False)
    new.parent.mkdir(exist_ok=True)
    new.write_text("")
    assert places.short(str(new)) == f"{shown.format(pid=os.getpid())}.py"


def test_the_same_number_in_the_name_of_a_file_that_was_there_before(tmp_path: Path) -> None:
    there = tmp_path / f"made_{os.getpid()}.py"
    there.write_text("")
    places = Places(str(tmp_path), (), (), command_line=False)
    places._started_ns = there.stat().st_ctime_ns + 1_000_000_000
    assert places.short(str(there)) == there.name


def test_relative_names_when_the_working_directory_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.syspath_prepend("")
    places = Places(str(tmp_path), (), (), command_line=False)
    assert places.kind("new.py") == COUNTED
    assert places.short("new.py") == "new.py"


def test_what_calls_tests_is_not_counted_but_other_packages_are(tmp_path: Path) -> None:
    places = Places(str(tmp_path), (), (), command_line=False)
    installed = sysconfig.get_path("purelib")
    assert places.kind(os.path.join(installed, "hypothesis", "internal", "conjecture", "engine.py")) == EXCLUDED
    assert places.kind(os.path.join(installed, "_hypothesis_pytestplugin.py")) == EXCLUDED
    assert places.kind(os.path.join(installed, "hypothesisworks.py")) == COUNTED
    included = Places(str(tmp_path), ("hypothesis",), (), command_line=False)
    assert included.kind(os.path.join(installed, "hypothesis", "core.py")) == COUNTED


@pytest.mark.parametrize("command_line", [False, True])
def test_text_that_is_the_program_is_counted(command_line: bool, tmp_path: Path) -> None:
    places = Places(str(tmp_path), (), (), command_line=command_line)
    assert places.kind("<stdin>") == COUNTED
    assert (places.kind("<string>") == COUNTED) is command_line
    assert places.kind("<frozen os>") == LIBRARY


def test_the_plugin_is_a_part_of_what_calls_tests(tmp_path: Path) -> None:
    places = Places(str(tmp_path), (), (), command_line=False)
    assert places.kind(one_run.__file__) == EXCLUDED

"""One log is one process: which one, and what is told about the others."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.errors.program import NotControlledError, SeveralProcessesError
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.replaying.record import record
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.running.processes import name_of
from replay_dd.schedules.running.target import Plan, describe_program, run_target

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once

SETTINGS = Settings(start_ns=1_700_000_000_000_000_000)
LIMIT_S = 120
PLAIN = "print('plain')\nraise SystemExit(3)\n"
RACE = """
import threading
n = 0
def work():
    global n
    for _ in range(3):
        n = n + 1
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("race", n)
"""
WRAPPER = "import subprocess, sys\nraise SystemExit(subprocess.call([sys.executable, 'race.py']))\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("plain", PLAIN), ("race", RACE), ("other", RACE), ("wrapper", WRAPPER)):
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def shell(folder: Path, *scripts: str, process: str = "") -> Program:
    line = "; ".join(f"{sys.executable} {script}" for script in scripts)
    return describe_program(("sh", "-c", line), directory=folder, process=process)


@pytest.mark.parametrize("scripts", [("plain.py", "race.py"), ("race.py", "plain.py")])
def test_the_only_one_with_threads_is_chosen(scripts: tuple[str, str], folder: Path) -> None:
    log = record(shell(folder, *scripts), SETTINGS, time_limit_s=LIMIT_S, show_output=False).log
    assert log.verified
    assert log.program.process == "race.py"
    assert log.ending.status == (3 if scripts[-1] == "plain.py" else 0)
    assert list(log.ending.thread_times) == ["0", "0.1", "0.2"]
    times = [switch.global_time for switch in log.switches]
    assert times == sorted(times)
    (note,) = log.ending.notes
    assert f"process {scripts.index('race.py') + 1}: " in note
    assert "plain.py" in note.partition("not under control")[2]
    assert replay(log, time_limit_s=LIMIT_S).divergence is None


def test_one_of_several_with_threads_has_to_be_named(folder: Path) -> None:
    with pytest.raises(SeveralProcessesError, match=r"2 Python processes .*1: .*race\.py; 2: .*other\.py"):
        run_target(shell(folder, "race.py", "other.py"), SETTINGS, Plan(), time_limit_s=LIMIT_S)


@pytest.mark.parametrize("process", ["2", "other.py"])
def test_one_can_be_named(process: str, folder: Path) -> None:
    program = shell(folder, "race.py", "other.py", process=process)
    run = run_target(program, SETTINGS, Plan(), time_limit_s=LIMIT_S)
    assert set(run.log.program.files) == {"other.py"}
    assert run.log.program.process == process


def test_one_that_is_not_there_is_an_error_that_lists_those_that_are(folder: Path) -> None:
    with pytest.raises(NotControlledError, match=r"`absent\.py`.*1: .*race\.py"):
        run_target(shell(folder, "race.py", process="absent.py"), SETTINGS, Plan(), time_limit_s=LIMIT_S)


def test_the_same_script_twice_is_told_apart_by_number(folder: Path) -> None:
    program = shell(folder, "plain.py", "plain.py")
    assert run_target(program, SETTINGS, Plan(), time_limit_s=LIMIT_S).log.program.process == "2"


def test_a_child_of_another_python_can_be_named_and_is_told_otherwise(folder: Path) -> None:
    program = describe_program((sys.executable, "wrapper.py"), directory=folder)
    (note,) = run_target(program, SETTINGS, Plan(), time_limit_s=LIMIT_S).log.ending.notes
    assert "--process" in note
    assert "race.py" in note
    run = run_target(replace(program, process="race.py"), SETTINGS, Plan(), time_limit_s=LIMIT_S)
    assert list(run.log.ending.thread_times) == ["0", "0.1", "0.2"]


def test_a_hunt_keeps_to_the_process_that_its_first_run_chose(folder: Path) -> None:
    found = hunt(shell(folder, "plain.py", "race.py"), SETTINGS, HuntOptions(runs=3, seed=0, strategy="random", jobs=1))
    assert found.passing is not None
    assert found.passing.program.process == "race.py"


def test_names_of_scripts_and_modules() -> None:
    assert name_of(("python", "-X", "dev", "-u", "folder/run.py", "x.py")) == "run.py"
    assert name_of(("python", "-Wd", "-m", "pytest", "x.py")) == "pytest"
    assert name_of(("python", "-c", "print()")) == "-c"
    assert name_of(("python",)) == ""


@pytest.mark.parametrize(
    ("command", "limit_s", "ended"),
    [("exec sleep 60", 0.2, "at its time limit, before"), ("kill -9 $$", 60, "by signal 9, before")],
)
def test_how_it_ended_before_it_was_controlled_is_told(
    command: str, limit_s: float, ended: str, tmp_path: Path
) -> None:
    program = describe_program(("sh", "-c", command), directory=tmp_path)
    with pytest.raises(NotControlledError) as error:
        run_target(program, Settings(), Plan("default"), time_limit_s=limit_s)
    assert ended in error.value.message
    assert ("--time-limit" in (error.value.hint or "")) == (limit_s < 60)

"""What is no part of a program moves none of its objects: files beside it, compiled files, the environment, folders."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.target import Plan, describe_program, run_target

# Tells the addresses of objects that it and its modules make before and after its first thread, and in which order it
# meets them in sets.
PROGRAM = """
import json, threading
import beside

def made(): return beside.made() + [object(), {1: 2}, (lambda: 1), 0.5 + len(told), type("New", (), {})]

told = []
before = set(made())

def work():
    import later
    for things in (before, set(later.made()), set(made())):
        told.extend((type(thing).__name__, id(thing)) for thing in things)

json.dumps({str(thing): 1 for thing in before})
for _ in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(*told, sep="\\n")
""".replace("{1: 2}", "slice")
MODULE = """
import enum

class Thing: pass
class Kind(enum.Enum): A = 1; B = 2

def made(): return [Thing(), Thing, Kind.A, Kind, made, Thing()]
"""
SETTINGS = Settings(start_ns=1_700_000_000_000_000_000)
LIMIT_S = 120

pytestmark = pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python")


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "prog.py").write_text(PROGRAM)
    for name in ("beside", "later"):
        (tmp_path / f"{name}.py").write_text(MODULE)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    # Compiled files are written in the first run.
    return replace(program, environment={**program.environment, "PYTHONDONTWRITEBYTECODE": ""})


def addresses(program: Program) -> list[str]:
    run = run_target(program, SETTINGS, Plan(), time_limit_s=LIMIT_S)
    assert run.log.ending.status == 0, run.output
    return run.output.decode().splitlines()


def leave_files(program: Program) -> Program:
    for number in range(50):
        Path(program.directory, f"a_file_that_somebody_left_there_{number}.txt").touch()
    return program


def compile_again(program: Program) -> Program:
    shutil.rmtree(Path(program.directory) / "__pycache__")
    return program


@pytest.mark.parametrize("change", [leave_files, compile_again])
def test_files_beside_it_move_nothing(change: Callable[[Program], Program], program: Program) -> None:
    expected = addresses(program)
    for line, other in zip(expected, addresses(change(program)), strict=True):
        assert line == other

"""What is no part of a program moves none of its objects: files beside it, compiled files, the environment, folders."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.target import Plan, describe_program, run_target
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.compat import FREE_THREADED
from tests.runtime.programs import output_of, run_program

# Tells the addresses of objects that it and its modules make before and after its first thread, and in which order it
# meets them in sets.
PROGRAM = """
import json, os, threading
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
told.extend((thing.__name__, id(thing)) for thing in (os.PathLike, os.getcwd, json.dumps, threading.Thread))
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

pytestmark = [
    pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python"),
    pytest.mark.skipif(FREE_THREADED, reason="addresses are not held fixed in builds without a GIL"),
]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "prog.py").write_text(PROGRAM)
    for name in ("beside", "later"):
        (tmp_path / f"{name}.py").write_text(MODULE)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    # Compiled files are written in the first run.
    return replace(program, environment={**program.environment, "PYTHONDONTWRITEBYTECODE": ""})


def addresses(program: Program, *, elsewhere: bool = False) -> list[str]:
    run = run_target(program, SETTINGS, Plan(), time_limit_s=LIMIT_S, elsewhere=elsewhere)
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


def test_another_shell_moves_nothing(program: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    expected = addresses(program)  # also of objects that the interpreter made before the program
    assert addresses(program, elsewhere=True) == expected
    monkeypatch.setenv("SSH_CONNECTION", "x" * 500)
    monkeypatch.setenv("NEW", "x" * 500)
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "temporary")
    assert addresses(program) == expected


TALKS = """
import os, socket, threading

class Thing: pass

def work():
    for number in range(30):
        own, other = socket.socketpair()
        reading, writing = os.pipe()
        kept.append(Thing())
        with own, other:
            own.sendall(b"x")
            other.recv(1)
            os.write(writing, b"y")
            os.read(reading, 1)
        os.close(reading)
        os.close(writing)
        kept.append({Thing(): number, 10**9 + number: 1})

kept = []
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*(id(thing) for thing in kept), *(id(number) for thing in kept[1::2] for number in thing), sep="\\n")
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can change its group")
def test_another_group_moves_nothing(tmp_path: Path) -> None:
    """The system tells it with each descriptor, and the interpreter makes an object for each number but small ones."""
    (tmp_path / "prog.py").write_text(TALKS)
    change = "import os, sys; os.setgid(int(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"
    told = []
    for group in ("0", "65534"):
        command = (sys.executable, "-I", "-c", change, group, sys.executable, "prog.py")
        told.append(addresses(describe_program(command, directory=tmp_path)))
    assert told[0] == told[1]


NUMBERS = """
import array, sys, threading

class Thing: pass

def work():
    for number in range(3_000):
        numbers[0]
        "x" * (number % 100)
        kept.append(Thing())

kept, numbers = [], array.array("I", [int(sys.argv[1])])
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(*map(id, kept))
"""


def test_how_large_a_number_is_moves_nothing(tmp_path: Path) -> None:
    """That of a user, for example: the interpreter has those up to 256 already."""
    told = [output_of(run_program(tmp_path, NUMBERS, arguments=[number])) for number in ("100", "999")]
    assert told[0] == told[1]

"""What a test runner finds before a test starts threads moves no object of the test."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.compat import FREE_THREADED
from replay_dd.schedules.target import Plan, describe_program, run_target

SETTINGS = Settings(start_ns=1_700_000_000_000_000_000)
LIMIT_S = 120

# Tells the addresses of objects made by modules, by set-up, and by tests.
TESTS = """
import sys, threading, unittest

class Thing: pass

def made(): return [Thing(), object(), {1}, (lambda: 1), "text" + str(len(told)), type("New", (), {})][0:9]

def work(): told.extend(id(thing) for thing in made())

def tell():
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    told.extend(id(thing) for thing in made())
    print("told", *told, "told")

told = []
told += map(id, made())

class Test(unittest.TestCase):
    def setUp(self): told.extend(map(id, made()))
    def test_one(self): pass
    def test_two(self):
        told.extend(map(id, made()))
        tell()
"""
FUNCTION = (
    TESTS.partition("class Test(")[0]
    + """
def test_with_a_folder(tmp_path):
    told.extend(map(id, made()))
    tell()
"""
)

pytestmark = pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python")


def told(program: Program) -> list[str]:
    """The addresses up to the first threads."""
    run = run_target(program, SETTINGS, Plan(), time_limit_s=LIMIT_S)
    assert run.log.ending.status == 0, run.output
    return run.output.decode().split("told")[1].split()


@pytest.mark.skipif(FREE_THREADED, reason="addresses are not held fixed in builds without a GIL")
@pytest.mark.parametrize(("runner", "text"), [("pytest -sq", TESTS), ("pytest -sq", FUNCTION), ("unittest -q", TESTS)])
def test_files_around_and_earlier_runs_move_nothing(runner: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(text)
    program = describe_program((sys.executable, "-m", *runner.split()), directory=tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    program = replace(program, environment={**environment, "PYTHONDONTWRITEBYTECODE": ""})
    expected = told(program)
    for number in range(30):
        (tmp_path / f"a_file_that_somebody_left_there_{number}.txt").touch()
    assert told(program) == expected
    # The name of a test's folder has that of the user in it, and so has another length.
    other = {"USER": "somebody_with_a_long_name_" * 3, "LOGNAME": "somebody_else", "COLUMNS": "37"}
    assert told(replace(program, environment={**program.environment, **other})) == expected


DRAWING = """
import os, random, unittest
import at_load

class Test(unittest.TestCase):
    def setUp(self): print("told", os.urandom(4), random.random())
    def test_it(self): print(os.urandom(4), random.Random().random(), random.random(), "told")
"""


@pytest.mark.once
@pytest.mark.parametrize("runner", ["pytest -sq", "unittest -q"])
def test_numbers_drawn_while_tests_are_loaded_change_none_of_a_test(runner: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(DRAWING)
    program = describe_program((sys.executable, "-m", *runner.split()), directory=tmp_path)
    (tmp_path / "at_load.py").write_text("")
    expected = told(program)
    (tmp_path / "at_load.py").write_text("import os, random\nrandom.random(), random.Random(), os.urandom(3)\n")
    assert told(program) == expected


@pytest.mark.once
@pytest.mark.parametrize("seeded", ["random.seed(1)", "random.setstate(random.Random(1).getstate())"])
def test_a_generator_that_was_seeded_while_tests_are_loaded_stays_so(seeded: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(DRAWING)
    (tmp_path / "at_load.py").write_text(f"import random\n{seeded}\n")
    program = describe_program((sys.executable, "-m", "unittest", "-q"), directory=tmp_path)
    own = random.Random(1)
    own.random()  # in the set-up
    assert float(told(program)[-1]) == own.random()

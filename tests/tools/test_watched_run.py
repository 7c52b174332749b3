"""A run of tests is shown as it comes, and ended when it hangs: tools/watched_run.py."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tools.watched_run import STACKS, Ended, run_watched

pytestmark = pytest.mark.once

LONG_S = 200.0
HANGS = f"""
import faulthandler, os, signal, time
descriptor = os.open(os.path.join(os.environ[{STACKS!r}], str(os.getpid())), os.O_WRONLY | os.O_CREAT)
faulthandler.register(signal.SIGQUIT, descriptor)

def the_test_that_hangs():
    print("...", end="", flush=True)
    time.sleep({LONG_S})

the_test_that_hangs()
"""


def watched(program: str, folder: Path, *, left_s: float = LONG_S, silence_s: float = LONG_S) -> Ended:
    (folder / "copy").mkdir()
    command = [sys.executable, "-c", program]
    return run_watched(command, folder / "copy", dict(os.environ), until=time.monotonic() + left_s, silence_s=silence_s)


def test_what_a_run_prints_and_its_status(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = watched("import sys; print('one'); print('5 passed'); sys.exit(3)", tmp_path)
    assert ended == Ended(3, "5 passed")
    assert capfd.readouterr().out == "one\n5 passed\n"


def test_each_line_says_whose_it_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "copy").mkdir()
    program = "import sys; print('one\\ntwo', flush=True); print('three', end='', flush=True)"
    ended = run_watched(
        [sys.executable, "-c", program],
        tmp_path / "copy",
        dict(os.environ),
        until=time.monotonic() + LONG_S,
        label="3.12: ",
    )
    assert ended == Ended(0, "three")
    assert capfd.readouterr().out == "3.12: one\n3.12: two\n3.12: three\n"


def test_a_silent_run_is_ended_and_shows_where_it_hangs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = watched(HANGS, tmp_path, silence_s=5.0)
    assert ended == Ended(-9, "...", "nothing printed for 5 s")
    shown = capfd.readouterr().out
    assert shown.startswith("...\n")
    assert "in the_test_that_hangs" in shown


def test_a_run_is_ended_when_there_is_no_time_left(tmp_path: Path) -> None:
    program = "import time\nwhile True: print('.', flush=True); time.sleep(0.01)"
    assert watched(program, tmp_path, left_s=2.0) == Ended(-9, ".", "no time left")


def test_a_run_that_closes_its_output_is_waited_for(tmp_path: Path) -> None:
    program = "import os, sys, time; print('bye', flush=True); os.close(1); os.close(2); time.sleep(0.2); os._exit(4)"
    assert watched(program, tmp_path) == Ended(4, "bye")


def test_the_tests_that_failed_are_known_at_the_end(tmp_path: Path) -> None:
    program = (
        "print('.F'); print('FAILED test_a.py::test_b - no', flush=True); print('ERROR test_c.py'); print('2 failed')"
    )
    assert watched(program, tmp_path).failures == ("FAILED test_a.py::test_b - no", "ERROR test_c.py")

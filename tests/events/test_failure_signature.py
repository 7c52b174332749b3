"""What programs print when they fail, and the part of it that is stable."""

from __future__ import annotations

import pytest

from replay_dd.events.failure_signature import (
    exception_in,
    of_exit,
    of_signal,
    outcome_of,
    told_with_output,
    x_error_in,
)
from replay_dd.events.model import Ending, EndingKind
from replay_dd.outcome import Outcome

TRACEBACK = """\
Traceback (most recent call last):
  File "/usr/lib/python3/tk/__init__.py", line 1921, in __call__
    return self.func(*args)
           ^^^^^^^^^^^^^^^^
  File "/opt/app/main.py", line 12, in save
    raise KeyError(name)
KeyError: 'name'
"""
X_ERROR = """\
X Error of failed request:  BadMatch (invalid parameter attributes)
  Major opcode of failed request:  42 (X_SetInputFocus)
  Serial number of failed request:  1234
"""


def test_an_exception() -> None:
    found = exception_in("Exception in Tkinter callback\n" + TRACEBACK)
    assert found is not None
    assert found.signature == "exception KeyError in save (main.py:12)"
    assert found.frames[0] == "save (main.py:12)"


SCRIPT, PACKAGE = ("/usr/bin/app", "<module>"), ("/opt/lib/python3.12/site-packages/app/window.py", "redraw")
LIBRARY = ("/usr/lib/python3/dist-packages/numpy/core.py", "divide")
STANDARD = ("/opt/versions/3.13/lib/python3.13/tkinter/__init__.py", "_configure")
OWN, FROZEN = ("/srv/lib/app.py", "close"), ("<frozen runpy>", "_run_code")


@pytest.mark.parametrize(
    ("calls", "innermost_own"),
    [
        ([STANDARD, OWN, STANDARD], "close (app.py:1)"),
        ([OWN, LIBRARY, STANDARD], "close (app.py:1)"),
        ([FROZEN, SCRIPT, PACKAGE, STANDARD], "redraw (window.py:1)"),
        ([FROZEN, PACKAGE, STANDARD], "redraw (window.py:1)"),
        ([SCRIPT, STANDARD], "<module> (app:1)"),
        ([FROZEN, STANDARD], "_configure (__init__.py:1)"),
        ([STANDARD, ("<string>", "<lambda>"), STANDARD], "<lambda> (<string>:1)"),
    ],
)
def test_an_exception_is_where_the_programs_own_code_was(calls: list[tuple[str, str]], innermost_own: str) -> None:
    lines = [f'  File "{file}", line 1, in {function}\n    call()\n' for file, function in calls]
    found = exception_in(f"Traceback (most recent call last):\n{''.join(lines)}TclError: bad\n")
    assert found is not None
    assert found.signature == f"exception TclError in {innermost_own}"
    assert found.frames[0].startswith(calls[-1][1])


@pytest.mark.parametrize("length", range(0, len(TRACEBACK), 7))
def test_a_traceback_that_is_still_being_written(length: int) -> None:
    assert exception_in(TRACEBACK[:length]) is None


def test_an_exception_without_text() -> None:
    found = exception_in(TRACEBACK.replace("KeyError: 'name'", "mine.Stop"))
    assert found is not None
    assert found.signature == "exception mine.Stop in save (main.py:12)"


def test_an_indented_exception_counts_if_it_ended_the_program() -> None:
    """Kivy prints through a log that indents each line; it also logs what it handles."""
    handled, uncaught = (
        "".join(f" {line}" for line in traceback.splitlines(keepends=True))
        for traceback in (TRACEBACK.replace("KeyError", "ImportError"), TRACEBACK)
    )
    output = f"[WARNING] no clipboard\n{handled}[INFO] started\n{uncaught}"
    assert exception_in(output) is None
    assert of_exit(1, output).signature == "exception KeyError in save (main.py:12)"
    assert of_exit(0, output).signature == ""
    # Where the program printed more, or its shell says what ended it, that was handled.
    assert of_exit(1, f"{output}working\nError: no display\n").signature == "exit status 1"
    assert of_exit(139, output).signature == "signal SIGSEGV"


def test_no_exception() -> None:
    assert exception_in("Warning: Traceback\nNothing: really\n") is None
    assert x_error_in("X is fine\n") is None


def test_an_x_error() -> None:
    ending = of_exit(1, X_ERROR)
    assert ending.kind is EndingKind.X_ERROR
    assert ending.signature == "X error BadMatch of X_SetInputFocus"
    other = of_exit(1, X_ERROR.replace("1234", "99"))
    assert outcome_of(other, ending) is Outcome.FAIL


def test_exit_statuses() -> None:
    assert not of_exit(0, "").failed
    assert of_exit(3, "").signature == "exit status 3"
    assert of_exit(139, "").signal == 11
    assert of_exit(255, "").kind is EndingKind.EXIT
    assert outcome_of(of_exit(3, ""), of_exit(4, "")) is Outcome.UNRESOLVED
    assert outcome_of(of_exit(0, ""), of_exit(4, "")) is Outcome.PASS


def test_signals() -> None:
    one, other = of_signal(11, "libx.so+0x1", (), ""), of_signal(11, "libx.so+0x1002", (), "")
    assert one.text == "killed by SIGSEGV in libx.so+0x1"
    assert outcome_of(one, other) is Outcome.UNRESOLVED
    assert outcome_of(one, of_signal(11, "", (), "")) is Outcome.FAIL
    assert outcome_of(one, of_signal(6, "", (), "")) is Outcome.UNRESOLVED
    assert of_signal(40, "", (), "").signature == "signal SIGRTMIN+6" or "40" in of_signal(40, "", (), "").signature
    assert not Ending(EndingKind.OPEN, "still running").failed


PLACES = ("libx.so+0x10", "libc.so.6+0x5", "app+0x300", "app+0x900")


@pytest.mark.parametrize(
    ("number", "frames", "same"),
    [
        (11, ("libx.so+0x90",), True),
        (11, ("libx.so+0x100f",), True),
        (11, ("libx.so+0x1010",), False),
        (6, ("libx.so+0x90",), False),
        (11, ("liby.so+0x10",), False),
        # Called from the same place; what lies in the C library says nothing.
        (11, ("liby.so+0x7000", "libc.so.6+0x9", "app+0x300"), True),
        (11, ("liby.so+0x7000", "libc.so.6+0x5", "app+0x310", "app+0x900"), False),
        (11, (), False),
    ],
)
def test_neighbouring_crash_sites(number: int, frames: tuple[str, ...], same: bool) -> None:
    wanted = of_signal(11, PLACES[0], PLACES, "")
    ending = of_signal(number, frames[0] if frames else "", frames, "")
    assert outcome_of(ending, wanted) is (Outcome.FAIL if same else Outcome.UNRESOLVED)
    assert outcome_of(ending, wanted, exact_site=True) is Outcome.UNRESOLVED
    assert outcome_of(wanted, wanted, exact_site=True) is Outcome.FAIL


def test_neighbouring_lines_of_a_function() -> None:
    found = exception_in(TRACEBACK)
    assert found is not None
    changes = {("line 12", "line 14"): True, ("in save", "in load"): False, ("KeyError", "OSError"): False}
    for (before, after), same in changes.items():
        other = exception_in(TRACEBACK.replace(before, after))
        assert other is not None
        assert outcome_of(other, found) is (Outcome.FAIL if same else Outcome.UNRESOLVED)
        assert outcome_of(other, found, exact_site=True) is Outcome.UNRESOLVED


def test_what_a_program_said_last_is_told_of_an_exit_alone() -> None:
    assert told_with_output(of_exit(2, "starting\nno settings\n")) == "ended with exit status 2 (no settings)"
    assert told_with_output(of_exit(2, "")) == "ended with exit status 2"
    assert told_with_output(of_signal(11, "app+0x1", (), "starting\n")) == "killed by SIGSEGV in app+0x1"

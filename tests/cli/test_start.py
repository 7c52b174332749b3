"""How the command ends: soon, with all that is owed to others."""

from __future__ import annotations

import subprocess
import sys

import pytest

import replay_dd

# Tells whether the interpreter has taken its modules apart.
_RUN = """\
import atexit, os, sys, threading

class Told:
    def __del__(self, write=os.write):
        write(1, b"taken apart\\n")

{before}
atexit.register(print, "exit handler")
told = Told()
sys.argv = ["replay-dd", {argument!r}]
from replay_dd.cli.start import main
main()
"""


def lines_of(before: str = "", *options: str, argument: str = "--version", status: int = 0) -> list[str]:
    """What is printed where the command is run in this way; it ends with this status."""
    program = _RUN.format(before=before, argument=argument)
    done = subprocess.run([sys.executable, *options, "-c", program], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done.stdout.splitlines()


def test_the_command_ends_without_taking_the_interpreter_apart() -> None:
    assert lines_of() == [f"replay-dd, version {replay_dd.__version__}", "exit handler"]


def test_a_usage_error_keeps_its_status() -> None:
    assert lines_of(argument="no-such-command", status=2) == ["exit handler"]


@pytest.mark.parametrize(
    "before", ["sys.setprofile(lambda *event: None)", "sys.settrace(lambda *event: None)"], ids=["profile", "trace"]
)
def test_who_watches_the_process_sees_it_end(before: str) -> None:
    assert lines_of(before)[1:] == ["exit handler", "taken apart"]


def test_development_mode_sees_it_end() -> None:
    assert lines_of("", "-X", "dev")[1:] == ["exit handler", "taken apart"]


def test_other_threads_may_finish() -> None:
    before = (
        "main_thread = threading.current_thread()\n"
        "threading.Thread(target=lambda: (main_thread.join(), print('thread'))).start()"
    )
    assert lines_of(before)[1:] == ["thread", "exit handler", "taken apart"]


def test_output_that_cannot_be_written_is_told_by_the_status() -> None:
    # What an exit handler writes last, when the command itself has written all that it had to.
    with open("/dev/full", "w") as full:
        program = _RUN.format(before="", argument="--version").replace(
            "main()\n", "atexit.register(sys.stdout.write, 'late')\nmain()\n"
        )
        done = subprocess.run([sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0

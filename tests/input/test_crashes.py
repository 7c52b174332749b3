"""Programs that a signal kills before they print a report: the search keeps to the crash that is looked for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.input.reduce import reduce_input
from replay_dd.input.target import Target

pytestmark = pytest.mark.once

PROGRAM = """
#include <stdio.h>
#include <string.h>
static char *nothing;
static void name(void) { nothing[0] = 'n'; }
static void size(void) { nothing[1] = 's'; }
int main(int count, char **words) {
    char line[100];
    FILE *file = fopen(words[1], "r");
    int names = 0;
    while (fgets(line, sizeof line, file)) {
        if (strstr(line, "name")) names++;
        if (strstr(line, "bad") && names) name();
        if (strstr(line, "bad")) size();
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    subprocess.run([compiler, "-o", folder / "p", folder / "p.c"], check=True)
    return folder / "p"


ROWS = b"one\nname\ntwo\nthree\nbad\nfour\n"


def test_another_crash_by_the_same_signal_is_another_failure(program: Path) -> None:
    found = reduce_input(ROWS, Target((str(program), "{}"), "rows"))
    assert found.failing == b"namebad"
    assert found.isolation.failure.words.startswith("killed by SIGSEGV in p+0x")


@pytest.mark.parametrize(
    "starter, told",
    [
        (("/bin/sh", "-c", "'PROGRAM' \"$1\" 2>/dev/null || exit 3", "sh"), "exit status 3: SIGSEGV in p+0x"),
        (("/bin/sh", "-c", "'PROGRAM' \"$1\" 2>/dev/null; exit $?", "sh"), "killed by SIGSEGV in p+0x"),
        (
            (sys.executable, "-c", "import subprocess, sys; subprocess.run(['PROGRAM', sys.argv[1]], check=True)"),
            "subprocess.CalledProcessError: ",
        ),
    ],
)
def test_crashes_of_what_a_command_starts_are_told_apart(program: Path, starter: tuple[str, ...], told: str) -> None:
    command = tuple(word.replace("PROGRAM", str(program)) for word in starter)
    found = reduce_input(ROWS, Target((*command, "{}"), "rows"))
    assert found.failing == b"namebad"
    assert found.isolation.failure.words.startswith(told)
    assert "SIGSEGV in p+0x" in found.isolation.failure.words


def test_a_crash_that_the_command_lives_with_is_no_part_of_the_failure(program: Path) -> None:
    """Neither its place, nor what it takes."""
    script = f'timeout 60 \'{program}\' "$1" 2>/dev/null || true; grep -q four "$1" && exit 3; exit 0'
    target = Target(("/bin/sh", "-c", script, "sh", "{}"), "rows")
    found = reduce_input(ROWS, target)
    assert found.failing == b"four"
    assert "SIGSEGV" not in found.isolation.failure.words
    assert not target.traced
    assert list(target.lived_with.values()) == [True]


def test_what_never_crashes_is_not_traced_for_long() -> None:
    target = Target(("/bin/sh", "-c", '! grep -q x "$1"', "sh", "{}"), "rows")
    for _ in range(5):
        assert target.run(b"x").status == 1
    assert (target.traced, target.traced_in_vain) == (False, 3)


def test_a_python_program_that_crashes_is_run_afresh() -> None:
    """In a fork, nobody sees where."""
    program = "import ctypes, sys\nif 'x' in open(sys.argv[1]).read(): ctypes.string_at(0)"
    found = reduce_input(b"a x b", Target((sys.executable, "-c", program, "{}"), "file"))
    assert found.failing == b"x"
    assert "killed by SIGSEGV in " in found.isolation.failure.words
    assert not found.all_notes


def test_a_crash_that_is_not_looked_for_is_no_difference_of_forks() -> None:
    program = """
import ctypes, sys
said = open(sys.argv[1]).read()
if "x" in said:
    raise ValueError
if "y" in said:
    ctypes.string_at(0)
"""
    found = reduce_input(b"y\nx\ny\n", Target((sys.executable, "-c", program, "{}"), "file"))
    assert found.failing == b"x"
    assert not found.all_notes

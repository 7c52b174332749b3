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


def test_another_crash_by_the_same_signal_is_another_failure(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (tmp_path / "p.c").write_text(PROGRAM)
    subprocess.run([compiler, "-o", tmp_path / "p", tmp_path / "p.c"], check=True)
    target = Target((str(tmp_path / "p"), "{}"), "rows")
    found = reduce_input(b"one\nname\ntwo\nthree\nbad\nfour\n", target)
    assert found.failing == b"namebad"
    assert found.isolation.failure.words.startswith("killed by SIGSEGV in p+0x")


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

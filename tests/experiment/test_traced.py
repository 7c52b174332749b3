"""Programs that a signal kills before they print a report."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.experiment.crash_places import Crash
from replay_dd.experiment.process import Command, Finished, private_folder
from replay_dd.experiment.traced import is_unexplained, run_traced

PROGRAM = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int deep(int depth, char *below) {
    char here[512];
    here[0] = *below + 1;
    return deep(depth + 1, here) + here[0];
}
static int name(char *text) { return text[0]; }
static int size(char *text) { return text[0] + 1; }
static int length(char *text) { return (int)strlen(text); }
static int call(void) { int (*nowhere)(void) = 0; return nowhere(); }
int main(int count, char **words) {
    char *nothing = getenv("NOT_THERE");
    switch (words[1][0]) {
    case 'n': return name(nothing);
    case 's': return size(nothing);
    case 'l': return length(nothing);
    case 'c': return call();
    case 'd': return deep(count, words[1]) & 1;
    case 'p': pause();
    }
    return 3;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    subprocess.run([compiler, "-fno-builtin", "-O0", "-o", folder / "p", folder / "p.c"], check=True)
    return folder / "p"


def traced(*arguments: str | Path, limit_s: float = 60) -> Finished:
    command = Command(tuple(map(str, arguments)), Path.cwd(), dict(os.environ))
    with private_folder() as folder:
        return run_traced(command, folder, time_limit_s=limit_s)


def test_crashes_of_one_kind_have_places_that_stay(program: Path) -> None:
    ends = {word: [traced(program, word + more) for more in ("", "longer")] for word in "nslcd"}
    assert {found.signal for both in ends.values() for found in both} == {11}
    for one, same in ends.values():
        assert one.place == same.place
    places = {word: both[0].place for word, both in ends.items()}
    assert len(set(places.values())) == 5
    assert places["n"].startswith("p+0x")
    assert ", from p+0x" in places["l"]
    assert places["c"].startswith("what p+0x")
    assert places["d"] == "a stack overflow"


def test_other_ends_are_as_without_a_tracer(program: Path) -> None:
    assert traced(program, "x")[:3] == (3, None, False)
    hanging = traced(program, "p", limit_s=0.2)
    assert (hanging.timed_out, hanging.place) == (True, "")
    said = traced(sys.executable, "-c", "import sys; print(sys.argv[1:])", "a b")
    assert said.output == b"['a b']\n"


def test_only_what_says_nothing_is_unexplained() -> None:
    assert is_unexplained(Finished(None, 11, False, 0.1, b"begun\n"))
    assert not is_unexplained(Finished(None, 6, False, 0.1, b""))
    assert not is_unexplained(Finished(1, None, False, 0.1, b""))
    report = b"Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
    assert not is_unexplained(Finished(None, 11, False, 0.1, report))


def test_a_stack_that_names_nothing_gives_no_place() -> None:
    assert Crash(11, ("0x0",)).sure_place == ""
    assert Crash(11, ()).sure_place == ""
    assert Crash(11, ("libc.so.6+0x1",), caller="").sure_place == "libc.so.6+0x1"
    assert Crash(11, ("p+0x1",), caller="p+0x2").sure_place == "p+0x1"

"""Programs that a signal kills before they print a report."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.experiment.crash_places import Crash
from replay_dd.experiment.ending import Oracle
from replay_dd.experiment.process import Command, Finished, private_folder
from replay_dd.experiment.traced import fails_alike, is_doubtful, is_unexplained, run_traced

PROGRAM = """
#include <signal.h>
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
static void die(void) { abort(); }
static int negative(int number) { if (number > 0) die(); return 1; }
static int positive(int number) { if (number > 0) die(); return 2; }
__attribute__((always_inline)) static inline void bail(void) { abort(); }
static int copied(int number) { if (number > 0) bail(); return 3; }
static int compare(const void *one, const void *other) { if (one != other) abort(); return 0; }
static int sorted(void) { int numbers[] = {2, 1, 3}; qsort(numbers, 3, sizeof *numbers, compare); return 0; }
static void report(int number) { if (number) abort(); }
static int handled(char *text) { signal(SIGSEGV, report); return text[1]; }
static int call(void) { int (*nowhere)(void) = 0; return nowhere(); }
int main(int count, char **words) {
    char *nothing = getenv("NOT_THERE");
    switch (words[1][0]) {
    case 'n': return name(nothing);
    case 's': return size(nothing);
    case 'l': return length(nothing);
    case 'c': return call();
    case 'm': return negative(count);
    case 'q': return positive(count);
    case 'i': return copied(count);
    case 'o': return sorted();
    case 'h': return handled(nothing);
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
    subprocess.run([compiler, "-fno-builtin", "-g", "-O0", "-o", folder / "p", folder / "p.c"], check=True)
    return folder / "p"


def traced(*arguments: str | Path, limit_s: float = 60, spares: bool = False) -> Finished:
    command = Command(tuple(map(str, arguments)), Path.cwd(), dict(os.environ))
    with private_folder() as folder:
        return run_traced(command, folder, time_limit_s=limit_s, spares=spares)


def test_crashes_of_one_kind_have_places_that_stay(program: Path) -> None:
    ends = {word: [traced(program, word + more) for more in ("", "longer")] for word in "nslcd"}
    assert {found.signal for both in ends.values() for found in both} == {11}
    for one, same in ends.values():
        assert one.place == same.place
    places = {word: both[0].place for word, both in ends.items()}
    assert len(set(places.values())) == 5
    assert places["n"].startswith("p+0x")
    assert places["l"].startswith("p+0x")
    assert places["c"].startswith("what p+0x")
    assert places["d"] == "a stack overflow"


ABORTS = {"m": "negative", "q": "positive", "i": "copied", "o": "compare", "h": "handled"}


@pytest.mark.parametrize("word", ABORTS)
def test_who_aborts_is_told_and_not_what_only_ends_the_program(program: Path, word: str) -> None:
    if shutil.which("addr2line") is None:
        pytest.skip("addr2line is not installed")
    found = traced(program, word)
    assert (found.signal, found.output) == (6, b"")
    line = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if f" {ABORTS[word]}(" in text)
    assert found.place.endswith(f": {ABORTS[word]} (p.c:{line})")


def test_without_debug_information_calls_are_told_by_their_offsets(program: Path, tmp_path: Path) -> None:
    stripped = tmp_path / "p"
    subprocess.run(["strip", "-o", stripped, program], check=True)
    places = {word: traced(stripped, word).place for word in "mohn"}
    assert len(set(places.values())) == 4
    assert all(place.startswith("p+0x") and ":" not in place for place in places.values())


def test_programs_without_libraries_have_places(program: Path) -> None:
    """They contain the C library."""
    source, alone = program.with_name("p.c"), program.with_name("alone")
    if subprocess.run(["cc", "-g", "-static", "-fno-builtin", "-o", alone, source], capture_output=True).returncode:
        pytest.skip("there is no C library to be linked statically")
    if shutil.which("addr2line") is None:
        pytest.skip("addr2line is not installed")
    found = {word: traced(alone, word).place for word in "mqionl"}
    for word, name in {"m": "negative", "q": "positive", "i": "copied", "o": "compare", "n": "name"}.items():
        assert f": {name} (p.c:" in found[word]


@pytest.mark.parametrize(
    "starter, status",
    [("'{}' n", 139), ("'{}' m || exit 3", 3), ("for i in 1 2; do '{}' n & wait $!; done 2>/dev/null; exit 4", 4)],
)
def test_what_a_shell_starts_is_traced(program: Path, starter: str, status: int) -> None:
    found = traced("/bin/sh", "-c", starter.format(program))
    assert (found.status, found.signal) == (status, None)
    assert {139: "p+0x", 3: "SIGABRT in p+0x", 4: "SIGSEGV in p+0x"}[status] == found.place.partition("+0x")[0] + "+0x"


@pytest.mark.parametrize(
    "starter, is_why",
    [
        ("PROGRAM m || exit 1", True),
        ("PROGRAM m || { echo failed; true | true; exit 1; }", True),  # whatever it starts afterwards
        ("trap 'rm -f nothing' EXIT; PROGRAM m || exit 1", True),
        ("PROGRAM m & ls / >&2; ls / >&2; wait $! || exit 1", True),
        ("PROGRAM m; PROGRAM n || exit 1", True),
        ("timeout 60 PROGRAM m || exit 1", True),
        (
            "PROGRAM m && { echo error: bad row; exit 1; }; echo error: no table; exit 1",
            True,
        ),  # it fails otherwise without it
        ("PROGRAM m || echo none; exit 1", False),
        ("PROGRAM m || echo none; true | true; exit 1", False),
        ("timeout 60 PROGRAM n || echo none; exit 1", False),
        ("PROGRAM m || echo probe failed; echo error: bad row; exit 1", False),
        ('sh -c "PROGRAM m; exit 2"; exit 1', False),
    ],
)
def test_a_crash_without_which_a_run_fails_alike_is_not_why(program: Path, starter: str, is_why: bool) -> None:
    command = "/bin/sh", "-c", starter.replace("PROGRAM", f"'{program}' 2>/dev/null")
    found = traced(*command)
    assert (found.status, is_doubtful(found)) == (1, True)
    assert " in p+0x" in found.place, "and not in what passes a signal on"
    assert fails_alike(found, traced(*command, spares=True)) is not is_why


def test_an_end_by_the_signal_of_the_crash_is_not_doubtful(program: Path) -> None:
    for starter in ("'{}' m; status=$?; rm -f nothing; exit $status", "'{}' n; exit $?"):
        found = traced("/bin/sh", "-c", starter.format(program))
        assert found.place.startswith("p+0x")
        assert not is_doubtful(found)
    assert not is_doubtful(traced(program, "x"))


def test_a_run_that_does_not_end_without_the_crash_fails_otherwise(program: Path) -> None:
    crashed = Finished(1, None, False, 0.1, place="SIGABRT in p+0x1")
    assert fails_alike(crashed, Finished(1, None, False, 0.1))
    assert not fails_alike(crashed, Finished(None, None, True, 0.1))
    assert not fails_alike(crashed, Finished(1, None, False, 0.1, b"error: no table"))


def test_a_complete_report_is_not_told_by_the_crash_of_a_helper(program: Path) -> None:
    run = f"import subprocess; status = subprocess.run([{str(program)!r}, 'm']).returncode"
    found = traced(sys.executable, "-c", f"{run}\nraise ValueError('bad row')")
    assert found.place == ""
    assert "<module>" in Oracle().ending(found).signature
    found = traced(sys.executable, "-c", f"{run}\nraise subprocess.CalledProcessError(status, 'p')")
    assert found.place.startswith("SIGABRT in p+0x")


def test_what_is_left_behind_is_killed(program: Path) -> None:
    started = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:], start_new_session=True).pid)"
    found = traced(sys.executable, "-c", started, program, "p")
    assert found.place == ""
    left = Path("/proc", found.output.decode().strip(), "stat")
    assert not left.exists() or left.read_text().split()[2] == "Z"  # nobody need have taken its end from the system


def test_crashes_of_a_run_that_passes_do_not_count(program: Path) -> None:
    found = traced("/bin/sh", "-c", f"'{program}' n; exit 0")
    assert (found.status, found.place) == (0, "")


def test_other_ends_are_as_without_a_tracer(program: Path) -> None:
    assert traced(program, "x")[:3] == (3, None, False)
    hanging = traced(program, "p", limit_s=0.2)
    assert (hanging.timed_out, hanging.place) == (True, "")
    said = traced(sys.executable, "-c", "import sys; print(sys.argv[1:])", "a b")
    assert said.output == b"['a b']\n"


def test_only_what_does_not_say_where_is_unexplained() -> None:
    def is_so(status: int | None, signal: int | None, said: bytes, *, timed_out: bool = False) -> bool:
        return is_unexplained(Finished(status, signal, timed_out, 0.1, said))

    assert is_so(None, 11, b"begun\n")
    assert is_so(None, 6, b"bad row\n")
    assert is_so(1, None, b"")  # it may have started what crashed
    assert is_so(None, 6, b"terminate called after throwing an instance of 'int'\n")
    assert is_so(134, None, b"*** stack smashing detected ***: terminated\nAborted\n")
    driver = b'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\n'
    assert is_so(1, None, driver + b"subprocess.CalledProcessError: Command 'x' died with <Signals.SIGSEGV: 11>.\n")
    assert not is_so(1, None, driver + b"KeyError: 'x'\n")
    report = b"Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n"
    assert not is_so(None, 11, report)
    assert not is_so(None, 6, b"p: p.c:4: main: Assertion `count' failed.\n")
    assert not is_so(0, None, b"")
    assert not is_so(None, 9, b"")
    assert not is_so(None, None, b"", timed_out=True)


def test_a_stack_that_names_nothing_gives_no_place() -> None:
    assert Crash(11, ("0x0",)).sure_place == ""
    assert Crash(11, ()).sure_place == ""
    assert Crash(11, ("libc.so.6+0x1",), caller="").sure_place == "libc.so.6+0x1"
    assert Crash(11, ("p+0x1",), caller="p+0x2").sure_place == "p+0x1"

"""Where programs are that do not end."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay_dd.experiment import hangs
from replay_dd.experiment.hangs import common_call, function_in, where_it_hangs
from replay_dd.experiment.language_reports import java_dump_place
from replay_dd.experiment.process_tree import kill_tree
from replay_dd.input.target import Target

PROGRAM = """
#include <unistd.h>
static volatile int turns;
__attribute__((noinline)) static int step(int number) { return number + turns; }
__attribute__((noinline)) static int count(void) {
    while (turns >= 0) turns = step(turns) & 1;
    return turns;
}
__attribute__((noinline)) static int wait_for(int *ends) { char byte; return read(ends[0], &byte, 1); }
int main(int number, char **words) {
    int ends[2];
    write(1, "ready", 5);
    if (number > 1 && words[1][0] == 'c') return count();
    return pipe(ends) + wait_for(ends);
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or shutil.which("addr2line") is None:
        pytest.skip("there is no C compiler, or no addr2line")
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    subprocess.run([compiler, "-g", "-O1", "-o", folder / "p", folder / "p.c"], check=True)
    return folder / "p"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is busy may be slow to answer, and to be looked at."""
    monkeypatch.setattr(hangs, "_ANSWER_LIMIT_S", 60.0)
    monkeypatch.setattr(hangs, "_LOOKING_LIMIT_S", 60.0)


def place(output: Path, *command: str | Path) -> str:
    """Where a command is once it has said something."""
    with output.open("wb") as file, subprocess.Popen(list(map(str, command)), stdout=file, stderr=file) as process:
        while not output.stat().st_size:
            assert process.poll() is None
            time.sleep(0.01)
        told = where_it_hangs(process.pid, output)
        kill_tree(process)
    return told


def test_the_function_that_goes_round_is_told_and_not_those_that_it_calls(program: Path, tmp_path: Path) -> None:
    told = place(tmp_path / "output", program, "c")
    assert told.startswith("p+0x")
    assert ": count (p.c:" in told


def test_a_program_that_waits_is_told_by_its_own_call(program: Path, tmp_path: Path) -> None:
    line = 1 + next(number for number, text in enumerate(PROGRAM.splitlines()) if "read(" in text)
    assert place(tmp_path / "output", program, "w").endswith(f": wait_for (p.c:{line})")


def test_what_a_command_starts_is_looked_at(program: Path, tmp_path: Path) -> None:
    assert ": count (p.c:" in place(tmp_path / "output", "/bin/sh", "-c", f"'{program}' c; true")


def test_without_names_a_function_is_told_by_its_offset(program: Path, tmp_path: Path) -> None:
    subprocess.run(["strip", "-o", tmp_path / "p", program], check=True)
    told = place(tmp_path / "output", tmp_path / "p", "c")
    assert told.startswith("p+0x")
    assert ":" not in told


def test_python_says_itself_where_it_is(tmp_path: Path) -> None:
    script = tmp_path / "spin.py"
    script.write_text("def spin():\n    print('ready', flush=True)\n    while True:\n        pass\nspin()\n")
    told = place(tmp_path / "output", sys.executable, script)
    assert told in ("spin.py:3 in spin", "spin.py:4 in spin")


def test_what_answers_an_interrupt_with_something_else_is_told_by_its_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hangs, "_ANSWER_LIMIT_S", 0.1)
    script = tmp_path / "deaf.py"
    lines = (
        "import signal",
        "signal.signal(2, lambda *_: print('no', flush=True))",
        "print(1, flush=True)",
        "while 1: 1",
    )
    script.write_text("\n".join(lines))
    assert "+0x" in place(tmp_path / "output", sys.executable, script)


def test_a_look_at_the_time_limit_adds_nothing_to_the_output() -> None:
    command = sys.executable, "-c", "print('begun', flush=True)\nwhile 1: pass"
    finished = Target(command, "file", time_limit_s=0.1).run(b"", looks=True)
    assert finished.timed_out
    assert finished.output in (b"", b"begun\n")


@pytest.mark.parametrize(
    "said, told",
    [
        ("s.rb:3:in `gsub': Interrupt\n\tfrom s.rb:3:in `walk'\n", "s.rb:3"),
        ("/tmp/s.rb:3:in 'String#gsub': SIGQUIT (SignalException)\n\tfrom s.rb:3:in 'walk'\n", "s.rb:3"),
        ("lua5.4: s.lua:2: interrupted!\nstack traceback:\n\t[C]: in ?\n", "s.lua:2"),
        ("interrupted\n", ""),
        ('Traceback (most recent call last):\n  File "a.py", line 3, in one\nKeyboardInt', ""),
        ('Traceback (most recent call last):\n  File "a.py", line 3, in one\nKeyboardInterrupt\n', "a.py:3 in one"),
    ],
)
def test_what_interpreters_answer_is_read(said: str, told: str) -> None:
    assert hangs._place_in(said.encode()) == told


DUMP = """Full thread dump OpenJDK 64-Bit Server VM:

"main" #1 prio=5 os_prio=0 cpu=62.10ms elapsed=0.6s tid=0x1 nid=0x2 waiting  [0x3]
   java.lang.Thread.State: WAITING (parking)
\tat jdk.internal.misc.Unsafe.park(java.base/Native Method)
\t- parking to wait for  <0x1> (a java.lang.Object)
\tat Main.main(Main.java:9)

"worker" #2 prio=5 os_prio=0 cpu=462.10ms elapsed=0.6s tid=0x1 nid=0x2 runnable  [0x3]
   java.lang.Thread.State: RUNNABLE
\tat java.util.ArrayList.add(java.base/ArrayList.java:4)
\tat Main.spin(Main.java:2)

"Reference Handler" #3 daemon cpu=900.10ms tid=0x1 nid=0x2 runnable  [0x3]
   java.lang.Thread.State: RUNNABLE
\tat java.lang.ref.Reference.wait(java.base/Native Method)
"""


def test_of_threads_of_java_the_one_that_has_worked_longest_counts() -> None:
    assert java_dump_place(DUMP) == ""  # it goes on
    whole = f"{DUMP}\nJNI global refs: 6, weak refs: 0\n"
    assert java_dump_place(whole) == "java.util.ArrayList.add(java.base/ArrayList.java:4), from Main.spin(Main.java:2)"


def test_the_innermost_function_that_is_always_there_counts() -> None:
    main, loop, one, other = ("/p", 10), ("/p", 20), ("/p", 30), ("/p", 40)
    assert common_call([[one, loop, main], [other, loop, main]]) == loop
    assert common_call([[other, one, loop, main], [loop, main]]) == loop
    assert common_call([[one, main], [one, main]]) == one
    assert common_call([[("/lib/libc.so.6", 7), one, main]] * 2) == one
    assert common_call([[("/lib/libc.so.6", 7)]]) == ("/lib/libc.so.6", 7)
    assert common_call([[one], [other], [one]]) == one
    assert common_call([]) is None


def test_one_that_calls_the_same_function_from_several_places_goes_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hangs, "_function", lambda call: call[1] // 100)
    assert common_call([[("/p", 305), ("/p", 207), ("/p", 101)], [("/p", 305), ("/p", 203), ("/p", 101)]]) == (
        "/p",
        203,
    )


def test_a_function_is_told_apart_by_its_name() -> None:
    assert function_in("p+0x12: count (p.c:6)") == function_in("p+0x17: count (p.c:8)") == "count"
    assert function_in("a.py:3 in one, from b.py:4 in two") == function_in("b.py:9 in two") == "b.py in two"
    assert function_in("p+0x12") == "p"

"""What is known of the exit of a program: its message and its place, in fresh processes and in forked ones."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Ending, Settings
from replay_dd.schedules.running.runner import Runner
from tests.runtime.programs import DEFAULT, random_walk, run_command, run_program, write_program

_THREAD = "import os, sys, threading\nthread = threading.Thread(target=int)\nthread.start()\nthread.join()\n"


def ending_of(folder: Path, text: str, name: str = "prog.py") -> Ending:
    """How a program ends that has had a thread; the same in a fresh process and in two forked ones."""
    write_program(folder, _THREAD + dedent(text), name)
    command = (sys.executable, "-m", "prog") if name == "prog.py" else (sys.executable, name)
    fresh = run_command(folder, command)
    with Runner(fresh.log.program, Settings()) as runner:
        for plan in (DEFAULT, random_walk(1)):
            forked = runner.run(plan, 60).log.ending
            assert signature_of(forked).key == signature_of(fresh.log.ending).key
            assert (forked.status, forked.exit, forked.complaints) == (
                fresh.log.ending.status,
                fresh.log.ending.exit,
                fresh.log.ending.complaints,
            )
    return fresh.log.ending


@pytest.fixture(params=["accelerator", "python"])
def pure(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "python":
        monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")


@pytest.mark.usefixtures("pure")
@pytest.mark.parametrize(
    "text, told",
    [
        ("def f():\n    sys.exit('no money')\nf()\n", "exit status 1: no money (prog.py:6 in f)"),
        ("raise SystemExit('no money')\n", "exit status 1: no money (prog.py:5 in <module>)"),
        ("class Quit(SystemExit): pass\nraise Quit('no')\n", "exit status 1: no (prog.py:6 in <module>)"),
        ("try:\n    sys.exit('no')\nfinally:\n    print()\n", "exit status 1: no (prog.py:6 in <module>)"),
        ("sys.exit(ValueError('bad account'))\n", "exit status 1: bad account (prog.py:5 in <module>)"),
        ("try:\n    sys.exit('a')\nexcept SystemExit as e:\n    e.code = e.code + 'b'\n    raise\n",) * 2,
        ("sys.exit(3)\n", "exit status 3 (prog.py:5 in <module>)"),
        ("sys.exit(True)\n", "exit status 1 (prog.py:5 in <module>)"),
        ("try:\n    sys.exit('no')\nexcept SystemExit:\n    pass\n", "exit status 0"),
        ("sys.exit()\n", "exit status 0"),
        ("raise KeyboardInterrupt\n", "KeyboardInterrupt (prog.py:5 in <module>)"),
        ("class Quit(SystemExit): code = 3\nraise Quit('no')\n", "exit status 3"),
    ],
)
def test_an_exit_tells_message_and_place(text: str, told: str, tmp_path: Path) -> None:
    expected = "exit status 1: ab (prog.py:6 in <module>)" if told == text else told
    assert signature_of(ending_of(tmp_path, text)).text == expected


def test_a_script_tells_the_same_as_a_module(tmp_path: Path) -> None:
    ending = ending_of(tmp_path, "sys.exit('no money')", "script.py")
    assert signature_of(ending).text == "exit status 1: no money (script.py:5 in <module>)"
    assert ending.exit is not None
    assert (ending.exit.where, ending.exit.type) == ("main", "SystemExit")


def test_the_text_of_a_message_is_not_asked_of_the_program(tmp_path: Path) -> None:
    text = "class Text:\n    def __str__(self):\n        print('asked')\n        return 'no'\nsys.exit(Text())\n"
    write_program(tmp_path, _THREAD + text)
    run = run_command(tmp_path, (sys.executable, "prog.py"))
    assert run.output.count(b"asked") == 1


def test_what_the_exit_leaves_is_freed_before_the_handlers_run(tmp_path: Path) -> None:
    text = """
        import atexit
        class Thing:
            def __del__(self):
                print("freed")
        def f():
            thing = Thing()
            sys.exit("no")
        atexit.register(print, "handler")
        f()
        """
    write_program(tmp_path, _THREAD + dedent(text))
    written = run_command(tmp_path, (sys.executable, "-u", "prog.py")).output.decode()
    assert written.index("freed") < written.index("handler")


def test_os_exit_has_a_place(tmp_path: Path) -> None:
    assert signature_of(ending_of(tmp_path, "os._exit(4)")).text == "exit status 4 (prog.py:5 in <module>)"
    in_thread = "def f():\n    os._exit(4)\nthreading.Thread(target=f).start()\n"
    assert signature_of(ending_of(tmp_path, in_thread)).text == "exit status 4 in thread 0.2 (prog.py:6 in f)"
    assert signature_of(ending_of(tmp_path, "os._exit(0)")).text == "exit status 0"


def test_an_exit_with_a_number_tells_what_the_program_complained_of(tmp_path: Path) -> None:
    text = "print('error: cannot open account 7', file=sys.stderr)\nsys.exit(2)\n"
    ending = ending_of(tmp_path, text)
    assert ending.complaints == ("error: cannot open account 7",)
    assert signature_of(ending).text == "exit status 2: error: cannot open account 7 (prog.py:6 in <module>)"
    parser = "import argparse\nargparse.ArgumentParser(prog='x').error('account 7 is unknown')\n"
    assert signature_of(ending_of(tmp_path, parser)).text == (
        "exit status 2: x: error: account 7 is unknown (prog.py:6 in <module>)"
    )


def test_complaints_are_not_kept_where_the_failure_is_known(tmp_path: Path) -> None:
    complains = "print('error: full', file=sys.stderr)\n"
    for text in ("sys.exit('no')", "raise ValueError", "print()"):
        assert ending_of(tmp_path, complains + text).complaints == ()


@pytest.mark.parametrize(
    "number, status, told",
    [
        ("256", 0, "256"),
        ("-1", 255, "-1"),
        ("1 << 40", 0, str(1 << 40)),
        ("10 ** 5000", 255, "more than"),
        ("3", 3, ""),
    ],
)
def test_of_a_number_that_is_not_the_status_a_note_tells(number: str, status: int, told: str, tmp_path: Path) -> None:
    ending = ending_of(tmp_path, f"sys.exit({number})")
    assert (ending.status, ending.complete, len(ending.notes)) == (status, True, 1 if told else 0)
    assert all(told in note for note in ending.notes)


def test_an_exit_of_a_thread_ends_only_that(tmp_path: Path) -> None:
    text = "import sys, threading\ndef f():\n    sys.exit({})\nt = threading.Thread(target=f)\nt.start()\nt.join()\n"
    run = run_program(tmp_path, text.format("'no money'"))
    assert signature_of(run.log.ending).text == "exit status 0"
    told = "a SystemExit ended thread 0.1, and not the program (prog.py:3 in f): no money"
    assert run.log.ending.notes == (told,)
    for silent in ("", "0"):
        assert run_program(tmp_path, text.format(silent)).log.ending.notes == ()


def test_an_exit_in_a_pool_is_that_of_the_program(tmp_path: Path) -> None:
    text = """
        from concurrent.futures import ThreadPoolExecutor
        def work():
            raise SystemExit("job failed")
        with ThreadPoolExecutor() as pool:
            future = pool.submit(work)
        future.result()
        """
    assert signature_of(ending_of(tmp_path, text)).text == "exit status 1: job failed (prog.py:8 in work)"


def test_an_exit_in_a_child_is_not_that_of_the_program(tmp_path: Path) -> None:
    text = "child = os.fork()\nif not child:\n    sys.exit('no')\nos.waitpid(child, 0)\nsys.exit(5)\n"
    ending = ending_of(tmp_path, text)
    assert signature_of(ending).text == "exit status 5 (prog.py:9 in <module>)"

"""Natural recording: real time decides who runs, and the log replays under the scheduler."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Settings
from replay_dd.schedules.replaying.replay import exact_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program
from tests.conftest import PROJECT, first_or_other
from tests.runtime.programs import assert_same, output_of, replayed, run_command, run_program
from tests.runtime.programs_outside import OUTSIDE
from tests.runtime.programs_synchronising import SYNCHRONISING

NATURAL = Plan("natural")
RECORDINGS = first_or_other(100, 20)

RACE = """
    import queue, threading, time

    def identity(value):
        return value

    def add(number):
        global total
        for _ in range(1000):
            before = identity(total)
            total = before + 1
        time.sleep(0.001 * number)
        done.put(number)

    total, done = 0, queue.Queue()
    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    numbers = [done.get(timeout=60) for _ in threads]
    for thread in threads:
        thread.join()
    print(total, numbers)
    assert total == 4000
"""


def exact(runner: Runner, set_up: Callable[[], object] = lambda: None) -> tuple[str, int]:
    """Record once and replay: how it ended, and its digest."""
    set_up()
    run = runner.run(NATURAL, 60)
    set_up()
    again = runner.run(exact_plan(run.log), 60)
    assert_same(run, again)
    assert again.log.ending.skipped == ()
    return signature_of(run.log.ending).kind, run.log.ending.digest


def test_a_hundred_recordings_of_the_password_file_replay_exactly(tmp_path: Path) -> None:
    shutil.copy(PROJECT / "demos" / "htpasswd" / "htpasswd.py", tmp_path / "htpasswd.py")
    command = (sys.executable, "htpasswd.py", "users", *[f"user{number}:secret" for number in range(2)])
    with Runner(describe_program(command, directory=tmp_path), Settings()) as runner:
        endings = [exact(runner, lambda: (tmp_path / "users").write_text("")) for _ in range(RECORDINGS)]
        assert runner.why_fresh == ""
    assert {kind for kind, _ in endings} == {"passed"}
    creating = (*command[:2], "-c", "-v", *command[2:])
    fresh = run_command(tmp_path, creating, NATURAL)
    assert_same(fresh, replayed(fresh.log))


def test_recordings_of_a_race_differ_and_replay_exactly(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text("\n".join(line[4:] for line in RACE.splitlines()))
    with Runner(describe_program((sys.executable, "prog.py"), directory=tmp_path), Settings()) as runner:
        endings = [exact(runner) for _ in range(20)]
    assert any(kind == "exception" for kind, _ in endings)
    assert len({digest for _, digest in endings}) > 1


@pytest.mark.parametrize(
    "name",
    ["socketserver with clients", "child processes", "a C lock around Python code", "more than the buffers hold"],
)
def test_programs_that_talk_to_the_outside(name: str, tmp_path: Path) -> None:
    run = run_program(tmp_path, OUTSIDE[name], NATURAL)
    assert output_of(run) == output_of(run_program(tmp_path, OUTSIDE[name]))
    assert_same(run, replayed(run.log))


@pytest.mark.parametrize("name", sorted(SYNCHRONISING)[::4])
def test_programs_that_synchronise(name: str, tmp_path: Path) -> None:
    text = SYNCHRONISING[name].replace("=100", "=.1").replace("=60", "=.1").replace("=10)", "=.1)")
    if any(long in text for long in ("3600", "(300, ")):
        pytest.skip("it would take the hours that it says")
    run = run_program(tmp_path, text, NATURAL)
    assert_same(run, replayed(run.log))


def test_sleeps_take_as_long_as_they_take_and_replay_at_once(tmp_path: Path) -> None:
    text = """
        import threading, time
        def work():
            global turns
            while not seen: turns += 1
        seen, turns = [], 0
        thread = threading.Thread(target=work)
        thread.start()
        time.sleep(0.2)
        seen.append(1)
        thread.join()
        print(turns)
        """
    run = run_program(tmp_path, text, NATURAL)
    assert run.log.ending.seconds > 0.2
    assert ("due", "0.1") in {record[:2] for record in run.log.arrivals}
    assert_same(run, replayed(run.log))

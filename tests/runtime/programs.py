"""Writes small programs and runs them under the scheduler."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Log, Settings, Trigger
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.replaying.replay import exact_plan, find_divergence, replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program, run_target

DEFAULT = Plan()
GRANULARITIES = ("sync", "gil", "line", "access")

# Four threads that each add one to the same counter, in three steps.
COUNTER = """
    import threading

    class Shared:
        value = 0

    def add():
        before = shared.value
        shared.value = before + 1

    shared = Shared()
    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(shared.value)
"""


def write_program(folder: Path, text: str, name: str = "prog.py") -> Path:
    """Write a program to a folder of its own; one name gives one program."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def run_program(
    folder: Path,
    text: str,
    plan: Plan = DEFAULT,
    *,
    arguments: Sequence[str] = (),
    time_limit_s: float = 60,
    settings: Settings | None = None,
) -> TargetRun:
    """Write a program to the folder and run it there under the scheduler."""
    path = write_program(folder, text)
    return run_command(folder, (sys.executable, path.name, *arguments), plan, time_limit_s, settings)


def run_command(
    folder: Path,
    command: tuple[str, ...],
    plan: Plan = DEFAULT,
    time_limit_s: float = 60,
    settings: Settings | None = None,
) -> TargetRun:
    """Run a command in the folder under the scheduler."""
    program = describe_program(command, directory=folder)
    return run_target(program, settings or Settings(), plan, time_limit_s=time_limit_s)


def output_of(run: TargetRun) -> str:
    """What a run that passed has written."""
    text = run.output.decode()
    assert signature_of(run.log.ending).text == "exit status 0", text
    assert run.log.ending.complete
    return text


def accesses_of_thread(folder: Path, text: str) -> list[Access]:
    """What the first thread that a program starts accesses, in a whole run that ends well."""
    run = run_program(folder, text, Plan(observed={"": (0, 1 << 62)}))
    assert run.log.ending.status == 0, run.output
    assert run.accesses.accesses
    return [one for one in run.accesses.accesses if one.thread == "0.1"]


def triggered(*triggers: tuple[str, int, str]) -> Plan:
    """The plan that follows these triggers."""
    return replay_plan(tuple(Trigger(*trigger) for trigger in triggers))


def random_walk(seed: int) -> Plan:
    return Plan("random", {"seed": seed})


def pct(seed: int, thread_times: dict[str, int], depth: int = 3) -> Plan:
    return Plan("pct", {"seed": seed, "depth": depth}, thread_times)


def replayed(log: Log) -> TargetRun:
    """Run the program of a log again under its triggers."""
    return run_target(log.program, log.settings, exact_plan(log), time_limit_s=60)


def assert_same(first: TargetRun, second: TargetRun) -> None:
    """Both runs took the same way, to the digest, and wrote the same."""
    assert str(find_divergence(first.log, second.log)) == "None"
    assert first.log.ending.digest == second.log.ending.digest
    assert first.log.ending.thread_times == second.log.ending.thread_times
    assert first.output == second.output


def written_under_every_schedule(folder: Path, text: str, schedules: int, notes: int = 0) -> str:
    """What a program writes under the default schedule and under so many random ones: the same, with so many notes.

    It runs in fresh processes and in forked ones, and each run is replayed.
    """
    default = run_program(folder, text)
    written = output_of(default)
    assert len(default.log.ending.notes) == notes, default.log.ending.notes
    assert_same(default, replayed(default.log))
    with Runner(default.log.program, Settings()) as runner:
        for seed in range(schedules):
            run = runner.run(random_walk(seed), 60)
            assert (output_of(run), run.log.ending.notes) == (written, default.log.ending.notes), seed
            again = runner.run(exact_plan(run.log), 60)
            assert_same(run, again)
            assert again.log.ending.skipped == ()
        assert runner.why_fresh == ""
    assert_same(run, replayed(run.log))
    return written


def written_without_us(folder: Path) -> str:
    """What the program that was last written to the folder writes on its own."""
    plain = subprocess.run([sys.executable, "prog.py"], cwd=folder, capture_output=True, text=True, timeout=60)
    assert plain.returncode == 0, plain.stderr
    return plain.stdout

"""Programs that are not deterministic under one schedule are detected, with a diagnosis of where and why."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.errors.program import NotDeterministicError
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.model import Log, Settings, Trigger
from replay_dd.schedules.replaying.divergence_diagnosis import find_traced_divergence
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.target import describe_program, run_target

START = "import threading\nfirst = threading.Thread(target=int)\nfirst.start(); first.join()\n"

# A counter in a file makes each run diverge.
FROM_FILE = (
    START
    + """
def work():
    with open("count") as file: turns = int(file.read())
    for number in range(turns): seen.append(number)
    with open("count", "w") as file: file.write(str(turns + 1))
seen = []
thread = threading.Thread(target=work)
thread.start(); thread.join()
"""
)

# Fails with the switch between the two lines, and then in two of three runs.
FLAKY = (
    START
    + """
import os
def add():
    global total
    before = total
    total = before + 1
total = 0
threads = [threading.Thread(target=add) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
lucky = os.urandom(1)[0] < 80
if not lucky: assert total == 2, total
"""
)


def run_of(folder: Path, text: str, *triggers: Trigger, settings: Settings = Settings()) -> Log:  # noqa: B008
    (folder / "prog.py").write_text(text)
    program = describe_program((sys.executable, "prog.py"), directory=folder)
    return run_target(program, settings, replay_plan(triggers), time_limit_s=60).log


def pair_of(folder: Path, text: str, settings: Settings) -> tuple[Log, Log]:
    """A log that passes, and one that fails."""
    passing = failing = None
    for time in range(1, 400):
        log = run_of(folder, text, Trigger("0.2", time % 8, "0.3"), settings=settings)
        if signature_of(log.ending).failed:
            failing = log
        elif signature_of(log.ending).text == "exit status 0" and time % 8 == 0:
            passing = log
        if passing is not None and failing is not None:
            return passing, failing
    raise AssertionError("no such pair")


def test_the_place_of_the_parting_and_its_cause(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("3")
    log = run_of(tmp_path, FROM_FILE)
    divergence = find_traced_divergence(log, 60)
    assert divergence is not None
    assert divergence.before is not None
    assert divergence.thread == ("0.2", "0.2")
    assert (divergence.before.file, divergence.before.line) == ("prog.py", 7)
    assert "for number in range(turns)" in str(divergence)
    assert divergence.cause.startswith("input from outside")


@pytest.mark.parametrize(
    "settings, line, cause",
    [
        (Settings(real_entropy=True), "import random; number = random.randrange(1000)", "entropy that is not fixed"),
        (Settings(real_clock=True), "import time; number = time.monotonic_ns() % 1000", "the real clock"),
        (Settings(), "import os; number = os.getpid() % 1000", "process and thread ids assigned by the system"),
    ],
)
def test_likely_causes(settings: Settings, line: str, cause: str, tmp_path: Path) -> None:
    text = f"{START}def work():\n    {line}\n    for _ in range(number): names.append(1)\nnames = []\n"
    log = run_of(
        tmp_path, text + "thread = threading.Thread(target=work)\nthread.start(); thread.join()\n", settings=settings
    )
    divergence = find_traced_divergence(log, 60)
    assert divergence is not None
    assert divergence.cause.startswith(cause)


def test_a_program_that_is_the_same_each_time_has_none(tmp_path: Path) -> None:
    assert find_traced_divergence(run_of(tmp_path, FLAKY), 60) is None


@pytest.mark.once
def test_a_search_refuses_what_differs_and_goes_on_if_asked_to(tmp_path: Path) -> None:
    settings = Settings(real_entropy=True)
    # Two runs are hardly ever alike.
    noise = "for _ in range(int.from_bytes(os.urandom(2)) % 8000): total += 0\n"
    text = FLAKY.replace("lucky = ", f"{noise}lucky = ")
    passing, failing = pair_of(tmp_path, text, settings)
    with pytest.raises(NotDeterministicError, match=r"common yield points.*Likely cause: entropy"):
        isolate(passing, failing)
    found = isolate(passing, failing, repeats=8)
    assert found.isolation.baseline.confidence is not None
    assert 0.9 < found.isolation.baseline.confidence < 1
    assert found.isolation.baseline.repeat == 8
    assert found.switch is not None
    assert found.switch.failing.place is not None
    assert found.switch.failing.place.function == "add"


# Where its objects stand in the set differs from run to run, as their addresses would where these are not fixed.
A_SET_OF_OBJECTS = """
import threading
with open("/proc/uptime") as file: key = int(file.read().split()[0].replace(".", ""))
class Thing:
    def __init__(self, number): self.number = number
    def __hash__(self): return self.number * key
things = {Thing(number) for number in range(50)}
def work():
    for thing in things:
        if thing.number % 2: odd.append(thing.number)
odd = []
thread = threading.Thread(target=work)
thread.start(); thread.join()
"""


def test_what_was_iterated_just_before_is_named(tmp_path: Path) -> None:
    divergence = find_traced_divergence(run_of(tmp_path, A_SET_OF_OBJECTS), 60)
    assert divergence is not None
    assert divergence.cause == (
        "unknown; perhaps the order of addresses, which sets of objects follow, if `things` in prog.py:9 is one "
        "(or a dict with such keys)"
    )

"""A program gets the limits of resources under which it was recorded, whatever those of the shell are now."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.experiment import resource_limits
from replay_dd.schedules.model import Log, Settings
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.running.environment import lower_limits
from replay_dd.schedules.running.target import Plan, describe_program, run_target

LIMIT_S = 120
# Its path follows the limits, and the order of classes and of functions in C.
PROGRAM = """
import resource, threading

def work():
    for kind in sorted(["RLIMIT_STACK", "RLIMIT_NOFILE", "RLIMIT_FSIZE"]):
        soft, _ = resource.getrlimit(getattr(resource, kind))
        told.append((kind, soft))
        for _ in range(soft % 7): told.append(kind)
    for thing in {int, str, ValueError, KeyError, OSError, print, len, sorted, resource.getrlimit, threading.Thread}:
        told.append(thing.__name__)
        if thing is KeyError: told.append(len(told))

told = []
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(told)
"""


@contextlib.contextmanager
def soft_limit(kind: int, limit: int) -> Iterator[None]:
    """Our own limit, for a while."""
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(kind, (soft, hard))


@pytest.fixture
def log(tmp_path: Path) -> Log:
    (tmp_path / "prog.py").write_text(PROGRAM)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    return run_target(program, Settings(), Plan(), time_limit_s=LIMIT_S).log


@pytest.mark.parametrize(
    ("kind", "limit"), [(resource.RLIMIT_STACK, resource.RLIM_INFINITY), (resource.RLIMIT_NOFILE, 300)]
)
def test_a_replay_has_the_recorded_limits(kind: int, limit: int, log: Log) -> None:
    if kind == resource.RLIMIT_STACK and resource.getrlimit(kind)[1] != resource.RLIM_INFINITY:
        pytest.skip("here, the stack cannot be unlimited")
    assert log.program.limits == resource_limits.current()
    with soft_limit(kind, limit):
        assert log.program.limits != resource_limits.current()
        assert str(replay(log, time_limit_s=LIMIT_S).divergence) == "None"
        assert resource.getrlimit(kind)[0] == limit, "ours is what it was"


def test_a_limit_that_cannot_be_raised_is_told_and_kept(log: Log) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = {**log.program.limits, "open_files": hard + 1}
    program = replace(log.program, limits=wanted)
    assert list(lower_limits(log.program)) == []
    assert list(lower_limits(program)) == [
        f"open files is limited to {hard:,} here; when recorded, it was {hard + 1:,}"
    ]
    assert run_target(program, Settings(), Plan(), time_limit_s=LIMIT_S).log.ending.status == 0

"""A program that never starts a thread is run like any other."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from tests.runtime.programs import GRANULARITIES, assert_same, output_of, replayed, run_program


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_it_passes_and_replays(granularity: str, tmp_path: Path) -> None:
    run = run_program(tmp_path, "print('hello')", settings=Settings(granularity=granularity))
    assert output_of(run) == "hello\n"
    assert dict(run.log.ending.thread_times) == {"0": 0}
    assert run.log.switches == ()
    assert_same(run, replayed(run.log))


def test_it_fails(tmp_path: Path) -> None:
    run = run_program(tmp_path, "print(1)\nraise SystemExit(3)")
    assert (run.log.ending.status, run.log.ending.complete) == (3, True)
    assert run.output == b"1\n"


def test_a_forked_child_that_starts_no_thread(tmp_path: Path) -> None:
    run = run_program(
        tmp_path,
        """
        import os, sys
        child = os.fork()
        if not child:
            print("child")
            sys.exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
    )
    assert output_of(run) == "child\n7\n"
    assert run.log.ending.notes == ("the program forked; only its first process is under control",)

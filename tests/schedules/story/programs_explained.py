"""Explains the first failure that a hunt through a program's schedules finds."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.running.target import describe_program
from replay_dd.schedules.story.explain import Explanation, explain


def explained(source: Path, folder: Path, *, seed: int = 0) -> tuple[Explanation, Program]:
    """The explanation of the first failure that a hunt finds.

    Args:
        source: the program.
        folder: where it is copied to, and run.
        seed: of the hunt.
    """
    passing, failing = hunted(source, folder, seed=seed)
    return explain(isolate(passing, failing)), failing.program


def hunted(source: Path, folder: Path, *, seed: int = 0) -> tuple[Log, Log]:
    """A passing and a failing run of a program; arguments as for :func:`explained`."""
    shutil.copy(source, folder)
    program = describe_program((sys.executable, source.name), directory=folder)
    found = hunt(program, Settings(), HuntOptions(runs=300, seed=seed))
    assert found.passing is not None
    assert found.failing is not None
    return found.passing, found.failing

"""Runs small programs with virtual locks and orders."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from replay_dd.schedules.running.target import TargetRun
from replay_dd.schedules.virtual import Region, Virtual
from tests.runtime.programs import DEFAULT, output_of, random_walk, run_program

SEEDS = (6, 9, 12, 14)  # of which most tear apart what these programs do


def lines_of(text: str, *marks: str) -> tuple[int, int]:
    """The first and the last line with one of these texts, counted from 1."""
    lines = textwrap.dedent(text).splitlines()
    found = [number for number, line in enumerate(lines, 1) if any(mark in line for mark in marks)]
    return found[0], found[-1]


def region(text: str, function: str, *marks: str) -> Region:
    return Region("prog.py", function, *lines_of(text, *marks))


def runs_with(folder: Path, text: str, virtual: Virtual | None, seeds: Iterable[int] = SEEDS) -> list[TargetRun]:
    """A run under the default schedule, and some random ones."""
    plans = [DEFAULT, *(random_walk(seed) for seed in seeds)]
    return [run_program(folder, text, replace(plan, virtual=virtual)) for plan in plans]


def outputs_with(folder: Path, text: str, virtual: Virtual | None) -> set[str]:
    return {output_of(run) for run in runs_with(folder, text, virtual)}

"""Runs the tool on a demo and reads its answer."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TOOL = Path(sys.executable).with_name("replay-dd")


def hunt_and_isolate(command: list[str], folder: Path, found: Path, *options: str) -> dict[str, Any]:
    """Hunt for a failure of the command, isolate the guilty switch, and return what `schedules --json` prints."""
    run(folder, "hunt", *options, "-o", str(found), "--", *command)
    return json.loads(
        run(folder, "schedules", str(found / "pass.log"), str(found / "fail.log"), "--json", "--experiments=0")
    )


def run(folder: Path, *arguments: str) -> str:
    # `python` in the command of a demo is the Python that the tool is installed for.
    variables = {**os.environ, "PATH": os.pathsep.join([str(TOOL.parent), os.environ.get("PATH", "")])}
    done = subprocess.run([TOOL, *arguments], cwd=folder, env=variables, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"replay-dd {' '.join(arguments)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def most_tests(differences: int) -> int:
    """How many tests the isolation may take: halving the differences, plus four as schedules are not monotone."""
    return math.ceil(math.log2(differences)) + 4


def line_of(source: str, text: str, after: str = "") -> int:
    """The number of the first line with this text, at or after the first line with the other text."""
    lines = source.splitlines()
    start = next(number for number, line in enumerate(lines) if after in line)
    return next(number for number, line in enumerate(lines, 1) if number > start and text in line)

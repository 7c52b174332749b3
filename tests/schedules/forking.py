"""Programs to be forked at their first thread."""

from __future__ import annotations

import sys
from pathlib import Path

from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program

THREAD = "import threading\nt = threading.Thread(target=print, args=('ran',))\nt.start()\nt.join()\n"


def write(folder: Path, text: str) -> Path:
    program = folder / "program.py"
    program.write_text(text)
    return program


def forked_output(tmp_path: Path, text: str) -> list[list[str]]:
    """The words that two forked runs of a program wrote."""
    program = write(tmp_path, text)
    described = describe_program((sys.executable, program.name), directory=tmp_path)
    with Runner(described, Settings()) as runner:
        runs = [runner.run(Plan(), 60) for _ in range(2)]
        assert runner.why_fresh == ""
        assert [run.log.ending.status for run in runs] == [0, 0]
    return [run.output.decode().split() for run in runs]

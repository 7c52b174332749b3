"""Threads that start commands end together with them: tools/beside.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT

pytestmark = pytest.mark.once

# Two commands are started, one in a process group with a child of its own; once all run, the user presses Ctrl-C. Of
# the two tasks behind them, none may begin. The tasks end, since all their commands do, also later ones.
INTERRUPTED = """
import subprocess, sys
from tools.beside import beside_each_other

READY = "print('runs', flush=True); import time; time.sleep(1000)"

def command(group, program):
    run = subprocess.Popen([sys.executable, "-c", program], process_group=group, stdout=subprocess.PIPE, text=True)
    started.append(run)
    run.wait()
    after.append(subprocess.run([sys.executable, "-c", READY], stdout=subprocess.DEVNULL).returncode)

started, after = [], []
parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {READY!r}])"
try:
    with beside_each_other(1, 1) as (first, second):
        tasks = [first.submit(command, 0, parent), second.submit(command, None, READY)]
        waiting = [group.submit(print, "began") for group in (first, second)]
        while len(started) < 2:
            pass
        for run in started:
            run.stdout.readline()
        raise KeyboardInterrupt
except KeyboardInterrupt:
    # The child of the first has the pipe, too: its end is the end of the file.
    print([run.stdout.read() for run in started], [run.returncode for run in started], after)
    print([task.cancelled() for task in waiting])
"""


def test_ctrl_c_ends_what_runs_with_all_its_children_and_begins_nothing_more(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED)
    variables = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, program], env=variables, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("['', ''] [-15, -15] [-15, -15]\n[True, True]\n", "")

"""What a command costs."""

from __future__ import annotations

import sys
from pathlib import Path

from replay_dd.experiment.tally import TALLY
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program

THREAD = "import threading\nfor number in range(3_000_000):\n    pass\nthreading.Thread(target=print).start()\n"


def test_each_process_counts_whoever_made_it(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(THREAD)
    program = describe_program((sys.executable, "program.py"), directory=tmp_path)
    before = TALLY.cost()
    for may_fork in (True, False):
        with Runner(program, Settings(), may_fork=may_fork) as runner:
            for _ in range(3):
                assert runner.run(Plan(), 60).log.ending.status == 0
            assert bool(runner.why_fresh) is not may_fork
    after = TALLY.cost()
    assert after.started - before.started == 1 + 3, "what waits to be forked, and three fresh runs"
    assert after.forked - before.forked == 3
    assert after.processor_s - before.processor_s > 0.05, "of processes that were waited for, and of what they forked"

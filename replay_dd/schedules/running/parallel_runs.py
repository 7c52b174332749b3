"""Whether runs of a program can be made in parallel."""

from __future__ import annotations

from replay_dd.schedules.model import Log


def usable_jobs(log: Log, jobs: int) -> int:
    """How many runs of a program may run in parallel: one, if they would fight over something."""
    return 1 if why_one_at_a_time(log) else jobs


def why_one_at_a_time(log: Log) -> str:
    """Why the runs of a program cannot be made in parallel, in words that follow "because"; empty if they can."""
    if log.ending.exclusive:
        return f"the program uses {log.ending.exclusive}, which runs at the same time would share"
    if log.ending.writes_files and not log.program.fresh_copy:
        return "the program writes files in its working directory; `--fresh-copy` gives each run its own"
    return ""

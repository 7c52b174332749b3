"""Worker: tests per second of the smallest program with two threads, forked and in fresh processes."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from replay_dd.schedules.replaying.record import settings_for_now
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, describe_program

PROGRAMS = Path(__file__).resolve().parent / "programs"


def cpu_seconds() -> float:
    """Processor time of this process and of those below it that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    request = json.loads(sys.argv[1])
    program = describe_program((sys.executable, str(PROGRAMS / "trivial.py")), directory=PROGRAMS)
    answers = []
    for may_fork in (True, False):
        cpu_before, all_runs = cpu_seconds(), 1
        with Runner(program, settings_for_now(), may_fork=may_fork) as runner:
            runner.run(Plan(), 60.0)  # starts the server
            rates = []
            for round_number in range(request["repeats"]):
                runs = 0
                started = time.perf_counter()
                while time.perf_counter() - started < request["seconds"]:
                    made = runner.run(Plan("random", {"seed": round_number * 100_000 + runs}), 60.0)
                    if made.log.ending.status != 0:
                        sys.exit(f"a run ended with status {made.log.ending.status}")
                    runs += 1
                rates.append(runs / (time.perf_counter() - started))
                all_runs += runs
            why_fresh = runner.why_fresh
        # The server has ended: its time and that of its copies is known now.
        cpu = (cpu_seconds() - cpu_before) / all_runs
        answers.append({"rates": rates, "why_fresh": why_fresh, "cpu": cpu})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()

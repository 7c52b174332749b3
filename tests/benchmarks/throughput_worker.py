"""Worker: tests per second of the smallest program with two threads, forked and in fresh processes."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from replay_dd.schedules.record import settings_for_now
from replay_dd.schedules.server import Runner
from replay_dd.schedules.target import Plan, describe_program

PROGRAMS = Path(__file__).resolve().parent / "programs"


def main() -> None:
    request = json.loads(sys.argv[1])
    program = describe_program((sys.executable, str(PROGRAMS / "trivial.py")), directory=PROGRAMS)
    answers = []
    for may_fork in (True, False):
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
            answers.append({"rates": rates, "why_fresh": runner.why_fresh})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()

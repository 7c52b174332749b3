"""Worker: what recording a program costs, as pairs of a plain run and a run under the runtime.

Both are started in the same way: the same private folder, the same environment, the same fixed addresses. So the
difference is the runtime in the process, what it writes, and the making of the log from it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from replay_dd.experiment.process import Command, private_folder, run
from replay_dd.schedules.replaying.record import settings_for_now
from replay_dd.schedules.running.target import Plan, describe_program, run_target

PROGRAMS = Path(__file__).resolve().parent / "programs"
TIME_LIMIT_S = 120.0


def plain(command: tuple[str, ...]) -> float:
    with private_folder() as folder:
        started = time.perf_counter()
        finished = run(
            Command(command, folder.path, dict(os.environ)), folder, time_limit_s=TIME_LIMIT_S, show_output=False
        )
        seconds = time.perf_counter() - started
    if finished.status != 0:
        sys.exit(f"the plain run ended with status {finished.status}: {finished.output.decode()[-100:]}")
    return seconds


def recorded(command: tuple[str, ...], granularity: str, accelerator: bool, strategy: str) -> tuple[float, int, str]:
    os.environ.pop("REPLAY_DD_ACCELERATOR", None)
    if not accelerator:
        os.environ["REPLAY_DD_ACCELERATOR"] = "off"
    program = describe_program(command, directory=PROGRAMS)
    settings = settings_for_now(granularity)
    started = time.perf_counter()
    made = run_target(program, settings, Plan(strategy), time_limit_s=TIME_LIMIT_S)
    seconds = time.perf_counter() - started
    ending = made.log.ending
    if ending.status != 0:
        sys.exit(f"the run under the runtime ended with status {ending.status}: {made.output.decode()[-100:]}")
    if accelerator and granularity != "sync" and "in C" not in made.backend and "C trace" not in made.backend:
        sys.exit(f"no accelerator: {made.backend_reason}")
    return seconds, ending.global_time, made.backend


def main() -> None:
    request = json.loads(sys.argv[1])

    def command(divisor: int) -> tuple[str, ...]:
        rounds = [str(rounds // divisor) for rounds in request["rounds"]]
        return (sys.executable, str(PROGRAMS / request["program"]), *rounds, *map(str, request["others"]))

    plain(command(1))
    answers = []
    for granularity, accelerator, strategy in request["modes"]:
        # Fewer rounds where a round takes longer, so that both runs of a pair take about the same time.
        divisor = request["divisors"][0 if accelerator else 1]
        pairs = []
        yield_points, backend = 0, ""
        # The back ends in Python are slow enough to be measured well with fewer runs.
        repeats = request["repeats"] if accelerator else max(1, request["repeats"] - 1)
        for _ in range(repeats):
            before = plain(command(1))
            seconds, yield_points, backend = recorded(command(divisor), granularity, accelerator, strategy)
            pairs.append((before, seconds))
        answers.append({"pairs": pairs, "yield_points": yield_points, "backend": backend, "divisor": divisor})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()

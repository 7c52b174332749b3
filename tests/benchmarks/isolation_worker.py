"""Worker: isolate the guilty one of billions of simulated unit deltas, or one switch of a long real program."""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import replay_dd.schedules.isolating.circumstance as circumstance
from replay_dd import Outcome
from replay_dd.dd import DD, EMPTY, Search
from replay_dd.experiment.search import check_end_points, run_search
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.model import Ending, Log, Program, Settings, Switch, Trigger
from replay_dd.schedules.replaying.record import settings_for_now
from replay_dd.schedules.replaying.replay import replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import Plan, TargetRun, describe_program, run_target

PROGRAMS = Path(__file__).resolve().parent / "programs"


def simulated(units: int, switches: int) -> dict[str, Any]:
    """Two schedules of the same switches at other times; one switch at one time makes the failure."""
    rng = random.Random(units)
    cuts = sorted(rng.sample(range(1, units), switches - 1))
    moves = [end - start for start, end in zip([0, *cuts], [*cuts, units], strict=True)]
    threads = [f"0.{number % 8}" for number in range(switches)]
    times: dict[str, int] = {}
    logs: list[list[Switch]] = [[], []]
    for number, (thread, move) in enumerate(zip(threads, moves, strict=True)):
        time_pass = times.get(thread, 0) + 1
        time_fail = time_pass + move
        times[thread] = time_fail
        to = f"0.{(number + 1) % 8}"
        for switches_of, at in zip(logs, (time_pass, time_fail), strict=True):
            switches_of.append(Switch(thread, at, to, False, False, None, 1000 * number, 0))
    program = Program(("simulated",), "")
    passing, failing = (
        Log(program, Settings(), "simulated", tuple(switches_of), Ending(status))
        for switches_of, status in zip(logs, (0, 1), strict=True)
    )
    started = time.perf_counter()
    difference = difference_of(passing, failing)
    seconds_to_difference = time.perf_counter() - started
    guilty = difference.deltas[switches // 3]
    guilty_trigger_time = guilty.trigger_with(guilty.units // 2).time
    outside = [0.0]
    mixing = [0.0]

    def test(configuration: Any) -> Outcome:
        entered = time.perf_counter()
        triggers = difference.triggers(configuration)
        mixing[0] += time.perf_counter() - entered
        entered = time.perf_counter()
        fails = any(
            t.thread == guilty.failing.thread
            and guilty.passing.time <= t.time <= guilty.failing.time
            and t.time >= guilty_trigger_time
            for t in triggers
        )
        outside[0] += time.perf_counter() - entered
        return Outcome.FAIL if fails else Outcome.PASS

    started = time.perf_counter()
    known = check_end_points(test, EMPTY, difference.all)
    result = run_search(Search(DD(EMPTY, difference.all), known=known), test)
    seconds = time.perf_counter() - started - outside[0] - mixing[0]
    tests = result.executed + 2
    return {
        "units": difference.units,
        "tests": tests,
        "left": result.difference.count,
        "seconds": seconds / tests,
        "mixing": mixing[0] / tests,
        "difference": seconds_to_difference,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


# The default schedule lets a thread give way after so many yield points of its own; the race lies between two such
# moments, so that the default schedule passes.
_TURN = 1_000_000


def real(millions: int) -> dict[str, Any]:
    """Isolate a switch in the middle of a program of so many million yield points from the default schedule."""
    settings = settings_for_now("access")

    def program(rounds: int, read_at: int, write_at: int) -> Program:
        command = (sys.executable, str(PROGRAMS / "long_race.py"), *map(str, (rounds, read_at, write_at)))
        return describe_program(command, directory=PROGRAMS)

    tried = run_target(program(20_000, 1, 2), settings, Plan(), time_limit_s=None).log
    in_a_round = tried.ending.thread_times["0.1"] / 20_000
    middle = millions // 2 * _TURN
    moments = (1.02 * millions * _TURN, middle + 0.05 * _TURN, middle + 0.95 * _TURN)
    long = program(*(int(moment / in_a_round) for moment in moments))
    started = time.perf_counter()
    passing = run_target(long, settings, Plan(), time_limit_s=None).log
    one_run = time.perf_counter() - started
    switch_at = Trigger("0.1", middle + _TURN // 3, "0.2")
    failing = run_target(long, settings, replay_plan((switch_at,)), time_limit_s=None).log
    runs: list[TargetRun] = []
    in_tool: list[float] = []

    def counted(function: Callable[..., TargetRun]) -> Callable[..., TargetRun]:
        def run(*arguments: Any, **options: Any) -> TargetRun:
            entered = time.perf_counter()
            made = function(*arguments, **options)
            runs.append(made)
            in_tool.append(time.perf_counter() - entered)
            return made

        return run

    Runner.run = counted(Runner.run)  # type: ignore[method-assign]
    circumstance.run_target = counted(run_target)
    started = time.perf_counter()
    found = isolate(passing, failing)
    seconds = time.perf_counter() - started
    switch = found.switch
    assert switch is not None
    return {
        "yield_points": passing.ending.global_time,
        "units": found.isolation.deltas_before,
        "tests": found.isolation.tests,
        "runs": len(runs),
        "seconds": seconds,
        "one_run": one_run,
        "in_runs": sum(in_tool),
        "in_programs": sum(made.log.ending.seconds for made in runs),
        "left": found.isolation.deltas_left,
        "verified": found.isolation.verified,
        "place": str(switch.failing.place),
        "time": switch.failing.time,
        "window": None
        if found.failing_range is None
        else [found.failing_range.first.time, found.failing_range.last.time],
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    print(json.dumps(simulated(**request["simulated"]) if "simulated" in request else real(**request["real"])))

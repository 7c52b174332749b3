"""Worker: one engine on one problem. Prints tests, seconds of the engine itself, peak memory.

The problem: ``k`` of ``n`` elements are needed for the failure, at the positions
``sorted(random.Random(1000003 * k + n).sample(range(n), k))``; a configuration fails exactly if it holds all of them.
Every call of the test function counts, whatever the engine calls it for; its own time is taken off.
"""

from __future__ import annotations

import json
import random
import resource
import statistics
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any


class Problem:
    def __init__(self, n: int, k: int) -> None:
        self.n = n
        self.positions = sorted(random.Random(1000003 * k + n).sample(range(n), k))
        self.calls = 0
        self.seconds = 0.0

    def timed(self, fails: Callable[[Any], bool]) -> Callable[[Any], bool]:
        def test(configuration: Any) -> bool:
            started = time.perf_counter()
            answer = fails(configuration)
            self.calls += 1
            self.seconds += time.perf_counter() - started
            return answer

        return test

    def fails_sorted(self, configuration: Sequence[int]) -> bool:
        """For engines that hand out the elements as a sorted list."""
        for position in self.positions:
            place = bisect_left(configuration, position)
            if place == len(configuration) or configuration[place] != position:
                return False
        return True

    def fails_set(self, configuration: Any) -> bool:
        return all(position in configuration for position in self.positions)


def ours(problem: Problem, function: str, **options: Any) -> list[int]:
    from replay_dd import Outcome
    from replay_dd.experiment import functions

    fails = problem.timed(problem.fails_set)
    answer = getattr(functions, function)(
        lambda configuration: Outcome.FAIL if fails(configuration) else Outcome.PASS, range(problem.n), **options
    )
    return list(answer.failing)


def picire(problem: Problem, best: bool) -> list[int]:
    import picire
    from picire.config_iterators import backward, skip

    fails = problem.timed(problem.fails_sorted)

    def test(configuration: list[int], identifier: object) -> Any:
        return picire.Outcome.FAIL if fails(configuration) else picire.Outcome.PASS

    options: dict[str, Any] = {"subset_iterator": skip, "complement_iterator": backward} if best else {}
    return list(picire.DD(test, **options)(list(range(problem.n))))


def lithium(problem: Problem) -> list[int]:
    from lithium.strategies import Minimize
    from lithium.testcases import TestcaseLine

    fails = problem.timed(problem.fails_sorted)
    case = TestcaseLine()
    case.parts = [b"%09d\n" % number for number in range(problem.n)]
    case.reducible = [True] * problem.n
    wanted = [case.parts[position] for position in problem.positions]
    problem.positions = wanted  # type: ignore[assignment]  # its elements are lines
    reduction = Minimize().reduce(case)
    fails(case.parts)
    for attempt in reduction:
        reduction.feedback(fails(attempt.parts))
    return [int(line) for line in reduction.testcase.parts]


def book(problem: Problem) -> list[int]:
    from debuggingbook.DeltaDebugger import DeltaDebugger

    fails = problem.timed(problem.fails_sorted)

    def problematic(items: tuple[int, ...]) -> None:
        if fails(items):
            raise ValueError("found")

    with DeltaDebugger() as debugger:
        problematic(tuple(range(problem.n)))
    return list(debugger.min_args()["items"])


ENGINES: dict[str, Callable[[Problem], list[int]]] = {
    "simplify": lambda problem: ours(problem, "simplify"),
    "prefix_bisection": lambda problem: ours(problem, "prefix_bisection"),
    "ddmin": lambda problem: ours(problem, "ddmin"),
    "ddmin-sweep": lambda problem: ours(problem, "ddmin", order="sweep"),
    "ddmin-complements": lambda problem: ours(problem, "ddmin", order="complements-only"),
    "picire": lambda problem: picire(problem, best=False),
    "picire-best": lambda problem: picire(problem, best=True),
    "lithium": lithium,
    "book": book,
}


def main() -> None:
    request = json.loads(sys.argv[1])
    # A search that wants more memory than this fails instead of making the machine swap.
    resource.setrlimit(resource.RLIMIT_AS, (request["memory_limit"], request["memory_limit"]))
    engine = ENGINES[request["engine"]]
    engine(Problem(8, 1))  # imports and first calls are not the engine's time
    measured: list[float] = []
    # Short searches are repeated: microseconds are soon lost in what else the machine does.
    while not measured or (sum(measured) < 0.1 and len(measured) < 25):
        problem = Problem(request["n"], request["k"])
        wanted = list(problem.positions)
        started = time.perf_counter()
        try:
            found = engine(problem)
        except MemoryError:
            sys.exit(f"more than {request['memory_limit'] >> 30} GB")
        measured.append(time.perf_counter() - started - problem.seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    minimal = found == wanted
    seconds = statistics.median(measured)
    print(json.dumps({"tests": problem.calls, "seconds": seconds, "peak": peak, "minimal": minimal}))


if __name__ == "__main__":
    main()

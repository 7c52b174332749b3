"""How many executions it takes until a bug is seen, for bugs of many kinds, beside the two peers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.benchmarks import environments
from tests.benchmarks.harness import Bench, Section, Table, WorkerError, median, run_worker
from tests.benchmarks.peers import PYTHON, REQUIREMENTS, TOOLS

_RUNS = 300
_LIMIT_S = 20.0
_SEEDS = 5
_BUGS = (
    "number taken twice",
    "rate limiter",
    "subscription",
    "callback lost",
    "closed when taken",
    "torn read",
    "task done twice",
    "pool of one",
    "order of four",
    "on without the lock",
    "computed twice",
    "item dropped",
    "copies",
    "two of four deadlock",
)

_ABOUT = """\
Executions until the bug is seen, medians over five seeds; *x of y* says how many seeds found it within 300 executions
and 20 s, where not all did. The programs (`programs/hunted.py`) are ordinary classes with two to four threads, and
were looked at when strategies were chosen. On 16 others, which were measured twice, before and after a change of the
order of strategies, replay-dd needed no more than the best in 5, at most twice as many in 10, and found all. Its first
run takes the default schedule, which none of them fails under, so it never finds one before its second."""


def run(bench: Bench) -> Iterable[Section]:
    own = environments.pythons(bench).get(PYTHON)
    try:
        others: Path | WorkerError = environments.peers(bench, "peers", PYTHON, REQUIREMENTS)
    except WorkerError as error:
        others = error
    rows: dict[str, list[object]] = {bug: [bug] for bug in _BUGS}
    medians: dict[str, dict[str, float]] = {bug: {} for bug in _BUGS}
    for tool in TOOLS:
        bench.tell(f"hunts: {tool}")
        python = own if tool == "replay-dd" else others
        for bug in _BUGS:
            try:
                answer = _searched(tool, python, bug)
            except WorkerError as error:
                rows[bug].append(str(error))
                continue
            hits = [one["executions"] for one in answer if one["found"]]
            if len(hits) * 2 > len(answer):
                medians[bug][tool] = median(hits)
            rows[bug].append(_cell(hits, len(answer)))
    told = _beside_the_best(medians)
    yield Section("Hunts", [_ABOUT, Table(["bug", *TOOLS], list(rows.values())), told])


def _searched(tool: str, python: Path | WorkerError | None, bug: str) -> list[dict[str, Any]]:
    if isinstance(python, WorkerError):
        raise python
    if python is None:
        raise WorkerError(f"no Python {PYTHON} on this machine")
    seeds = list(range(1, 2 if "dpor" in tool else 1 + _SEEDS))  # dpor draws no random numbers
    request = {"tool": tool, "programs": "hunted", "searches": [(bug, 0, _RUNS, seeds)], "limit_s": _LIMIT_S}
    before = [python.parent / "frontrun"] if tool.startswith("frontrun") else []
    answer = run_worker(python, "peers_worker.py", request, before=before, time_limit_s=_LIMIT_S * (_SEEDS + 1))
    found: list[dict[str, Any]] = answer[0]
    return found


def _cell(hits: list[int], searches: int) -> str:
    if not hits:
        return "not found"
    text = f"{median(hits):.0f}"
    return text if len(hits) == searches else f"{text} ({len(hits)} of {searches})"


def _beside_the_best(medians: dict[str, dict[str, float]]) -> str:
    """How replay-dd does beside the best of the others, for each bug whichever that is."""
    ratios = []
    for counts in medians.values():
        best = min((count for tool, count in counts.items() if tool != "replay-dd"), default=None)
        if best is not None:
            ratios.append(counts.get("replay-dd", float("inf")) / best)
    no_worse, twice = sum(ratio <= 1 for ratio in ratios), sum(ratio <= 2 for ratio in ratios)
    found = sum("replay-dd" in counts for counts in medians.values())
    return (
        f"Against whichever of the others is best on a bug, replay-dd needs no more executions in {no_worse} of "
        f"{len(ratios)}, and at most twice as many in {twice}. It finds {found} of {len(medians)}."
    )

"""The two peers side by side in the same run, on what all can do: run two threads under a scheduler, and find a bug."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.benchmarks import environments
from tests.benchmarks.harness import HERE, Bench, Section, Table, WorkerError, median, ratio, run_worker, with_unit

PYTHON = "3.12"  # the oldest that all three run on with their fastest way
REQUIREMENTS = ("interleave-test==0.1.0", "frontrun==0.7.0")
TOOLS = (
    "replay-dd",
    "interleave-test pct",
    "interleave-test random",
    "frontrun dpor",
    "frontrun random",
)
_BUGS = ("lost-update", "check-then-act", "deadlock")
_STEPS = (0, 30)  # of work before and after the bug, in each thread
_RUNS = 300
_LIMIT_S = 8.0
_LOOP = 3_000  # steps in the loop whose cost is compared
_OURS_LOOP = 300_000

_ABOUT_COST = """\
Two threads, each with a loop of 3,000 steps of attribute updates and arithmetic (`local_work` of
`programs/bugs.py`, twice 1,500), one execution under each tool's scheduler, Python 3.12. The peers run it in the
process that called them; replay-dd starts a new process for it, so its whole run is given, and the ratio without the
start of that process, measured on a loop of 300,000 steps."""

_ABOUT_WHOLE = """\
The same with all that a user waits for, from the start of the command to its end: interpreter, imports, search. Of
replay-dd that is `replay-dd hunt --no-simplify`, which also replays both logs that it found, each in a process of its
own, at the same time, and writes them. Medians over seeds."""

_ABOUT_BUGS = """\
Three bugs (`programs/bugs.py`), alone, and with 30 steps of work on an object of its own before and after it in each
thread. Executions and seconds until the bug is seen, medians over seeds. replay-dd runs a process of its own for each
execution (forked where it can be), the peers call a function again. Searches end at 300 executions or 8 s; *x of
y* says how many seeds found the bug where not all did. Imports of the tools are not counted, nor their replays of what
they found (`reproduce_on_failure=0`). frontrun runs behind its own command."""


def run(bench: Bench) -> Iterable[Section]:
    own = environments.pythons(bench).get(PYTHON)
    try:
        others: Path | WorkerError = environments.peers(bench, "peers", PYTHON, REQUIREMENTS)
    except WorkerError as error:
        others = error
    seeds = list(range(1, 1 + bench.repeats))
    cost_rows: list[list[object]] = []
    bug_rows: dict[tuple[str, int], list[object]] = {
        (bug, steps): [bug + (f", {steps} steps around" if steps else "")] for bug in _BUGS for steps in _STEPS
    }
    whole_rows: dict[tuple[str, int], list[object]] = {key: list(row) for key, row in bug_rows.items()}
    for tool in TOOLS:
        bench.tell(f"peers: {tool}")
        python = own if tool == "replay-dd" else others
        searches: list[Any] = [("no-bug", _LOOP // 2, 1, [1] * bench.repeats)]
        if tool == "replay-dd":
            searches += [("no-bug", steps, 1, [1] * (2 + bench.repeats)) for steps in (0, _OURS_LOOP // 2)]
        # frontrun's dpor draws no random numbers.
        searches += [(bug, steps, _RUNS, seeds[:2] if "dpor" in tool else seeds) for bug in _BUGS for steps in _STEPS]
        try:
            answers = _answers(tool, python, searches)
        except WorkerError as error:
            cost_rows.append([tool, str(error), "", ""])
            for row in (*bug_rows.values(), *whole_rows.values()):
                row.append(str(error))
            continue
        for (bug, steps), row in whole_rows.items():
            row.append(_whole_command(tool, python, bug, steps, seeds))
        cost_rows.append([tool, *_cost(answers)])
        for row, answer in zip(bug_rows.values(), answers[-len(bug_rows) :], strict=True):
            row.append(_found(answer))
    yield Section("Cost of a run", [_ABOUT_COST, Table(["tool", "plain", "under the tool", "ratio"], cost_rows)])
    yield Section("To the bug", [_ABOUT_BUGS, Table(["bug", *TOOLS], list(bug_rows.values()))])
    yield Section("To the bug, whole commands", [_ABOUT_WHOLE, Table(["bug", *TOOLS], list(whole_rows.values()))])


def _answers(tool: str, python: Path | WorkerError | None, searches: list[Any]) -> list[Any]:
    if isinstance(python, WorkerError):
        raise python
    if python is None:
        raise WorkerError(f"no Python {PYTHON} on this machine")
    before = [python.parent / "frontrun"] if tool.startswith("frontrun") else []
    request = {"tool": tool, "searches": searches, "limit_s": _LIMIT_S}
    answer: list[Any] = run_worker(python, "peers_worker.py", request, before=before, time_limit_s=900)
    return answer


def _whole_command(tool: str, python: Path | WorkerError | None, bug: str, steps: int, seeds: list[int]) -> str:
    assert isinstance(python, Path)
    seconds, found = [], 0
    for seed in seeds:
        started = time.perf_counter()
        if tool == "replay-dd":
            found += _hunt(python, bug, steps, seed)
        else:
            before = [python.parent / "frontrun"] if tool.startswith("frontrun") else []
            request = {"tool": tool, "whole": [bug, steps, _RUNS, seed], "limit_s": _LIMIT_S}
            found += run_worker(python, "peers_worker.py", request, before=before, time_limit_s=900)["found"]
        seconds.append(time.perf_counter() - started)
    text = with_unit(median(seconds))
    return text if found == len(seeds) else f"{text} (found {found} of {len(seeds)})"


def _hunt(python: Path, bug: str, steps: int, seed: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        options = ["--no-simplify", "--runs", str(_RUNS), "--seed", str(seed * _RUNS), "-o", folder]
        program = [str(python), str(HERE / "programs" / "bugs.py"), bug, str(steps)]
        command = [str(python.parent / "replay-dd"), "hunt", *options, "--", *program]
        return subprocess.run(command, capture_output=True).returncode == 0


def _cost(answers: list[Any]) -> list[object]:
    plain = median(one["plain"] for one in answers[0])
    seconds = median(one["seconds"] for one in answers[0])
    cells: list[object] = [with_unit(plain), with_unit(seconds)]
    if len(answers) == 1 + len(_BUGS) * len(_STEPS):
        return [*cells, ratio([seconds / plain])]
    start = median(one["seconds"] for one in answers[1])
    long_plain = median(one["plain"] for one in answers[2])
    return [*cells, ratio((one["seconds"] - start) / long_plain for one in answers[2])]


def _found(answer: list[Any]) -> str:
    hits = [one for one in answer if one["found"]]
    if not hits:
        last = answer[-1]
        return f"not found ({last['executions']} executions, {with_unit(last['seconds'])})"
    text = f"{median(one['executions'] for one in hits):.0f} / {with_unit(median(one['seconds'] for one in hits))}"
    return text if len(hits) == len(answer) else f"{text} ({len(hits)} of {len(answer)})"

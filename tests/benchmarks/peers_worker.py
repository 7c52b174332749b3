"""Worker: one tool on one of the programs: what a run costs, how soon it finds the bug.

The programs are those of ``bugs.py`` or ``hunted.py``, or a folder in which each is a script of its own.

Nothing of a tool's own import counts. ``limit_s`` is what a search may take.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parent / "programs"
sys.path.insert(0, str(PROGRAMS))

import bugs  # noqa: E402  # the programs are no package
import hunted  # noqa: E402

Answer = dict[str, Any]


class Scripts:
    """A folder of programs, each a script of its own that also tells what the tools want to know."""

    def __init__(self, folder: str) -> None:
        self.KINDS = {}
        for path in (PROGRAMS / folder).glob("*.py"):
            module = importlib.import_module(f"{folder}.{path.stem}")
            self.KINDS[path.stem] = (module.make, module.WORKERS, module.holds)
        self._folder = PROGRAMS / folder

    def run_once(self, kind: str, steps: int) -> None:
        bugs.run(self.KINDS[kind], steps)

    def command(self, kind: str, steps: int) -> tuple[str, ...]:
        return sys.executable, str(self._folder / f"{kind}.py")


def programs_of(name: str) -> Any:
    """The programs of a module, or of a folder."""
    modules = {"bugs": bugs, "hunted": hunted}
    return modules[name] if name in modules else Scripts(name)


programs: Any = bugs


def command_for(kind: str, steps: int) -> tuple[str, ...]:
    """What runs a program as one of its own."""
    if isinstance(programs, Scripts):
        return programs.command(kind, steps)
    return sys.executable, programs.__file__, kind, str(steps)


def ours(kind: str, steps: int, runs: int, seed: int, limit_s: float) -> Answer:
    from replay_dd.schedules.hunting.hunt import hunt
    from replay_dd.schedules.hunting.options import HuntListener, HuntOptions
    from replay_dd.schedules.replaying.record import settings_for_now
    from replay_dd.schedules.running.target import describe_program

    program = describe_program(command_for(kind, steps), directory=PROGRAMS)
    found: list[tuple[int, float]] = []
    passed: list[int] = []

    def on_run(number: int, plan: object, signature: Any) -> None:
        if signature.failed:
            found.append((number, time.perf_counter() - started))
            raise KeyboardInterrupt
        passed.append(number)
        if time.perf_counter() - started > limit_s:
            raise KeyboardInterrupt

    started = time.perf_counter()
    with contextlib.suppress(KeyboardInterrupt):
        hunt(
            program,
            settings_for_now(),
            HuntOptions(runs=runs, seed=seed * runs, simplify=False),
            listener=HuntListener(on_run=on_run),
        )
    seconds = time.perf_counter() - started
    executions = found[0][0] if found else len(passed) + 1
    return {"found": bool(found), "executions": executions, "seconds": found[0][1] if found else seconds}


def interleave_test(strategy: str) -> Callable[..., Answer]:
    def explore(kind: str, steps: int, runs: int, seed: int, limit_s: float) -> Answer:
        import interleave_test as tool

        def model() -> None:
            programs.run_once(kind, steps)

        # One strategy for the whole search: it learns from run to run how long the program is.
        chosen = {"pct": tool.PCTStrategy, "random": tool.RandomStrategy}[strategy]()
        started = time.perf_counter()
        executions, found = 0, False
        # In portions, as it has no limit of time for a whole search.
        while executions < runs and not found and time.perf_counter() - started < limit_s:
            result = tool.explore(
                model,
                iterations=min(20, runs - executions),
                seed=seed + 1000 * executions,
                strategy=chosen,
                timeout=limit_s,
                raise_on_failure=False,
            )
            executions += result.schedules_run
            found = not result.ok
        return {"found": found, "executions": executions, "seconds": time.perf_counter() - started}

    return explore


def _is_of_program(error: BaseException) -> bool:
    """Whether an exception comes from one of the programs."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and PROGRAMS in Path(last.tb_frame.f_code.co_filename).parents


def frontrun(strategy: str) -> Callable[..., Answer]:
    def explore(kind: str, steps: int, runs: int, seed: int, limit_s: float) -> Answer:
        import frontrun as tool

        make, workers, holds = programs.KINDS[kind]
        options: dict[str, Any] = {"max_executions": runs, "max_branches": 10**7, "deadlock_timeout": limit_s}
        if strategy == "random":
            # So many operations that its schedules reach over the whole program.
            most = 2000 if isinstance(programs, Scripts) else 300 + 120 * steps
            options = {"max_attempts": runs, "max_ops": most, "seed": seed}
        made = 0

        def counted_make() -> Any:
            nonlocal made
            made += 1
            return make()

        started = time.perf_counter()
        try:
            result = tool.explore(
                setup=counted_make,
                workers=[bugs.surrounded(worker, steps) for worker in workers],
                invariant=holds,
                strategy=strategy,
                total_timeout=limit_s,
                timeout_per_run=limit_s,
                reproduce_on_failure=0,
                **options,
            )
            found, executions = result.property_holds is False, result.num_explored
        except Exception as error:
            if not _is_of_program(error):
                raise
            found, executions = True, made  # "dpor" passes on what a worker raises: its user sees the bug
        return {"found": found, "executions": executions, "seconds": time.perf_counter() - started}

    return explore


TOOLS: dict[str, Callable[..., Answer]] = {
    "replay-dd": ours,
    "interleave-test pct": interleave_test("pct"),
    "interleave-test random": interleave_test("random"),
    "frontrun dpor": frontrun("dpor"),
    "frontrun random": frontrun("random"),
}


def plain_seconds(kind: str, steps: int) -> float:
    """The program in this process, without any tool: the fastest of several."""
    measured = []
    for _ in range(7):
        started = time.perf_counter()
        bugs.run_once(kind, steps)
        measured.append(time.perf_counter() - started)
    return min(measured)


def main() -> None:
    global programs
    request = json.loads(sys.argv[1])
    tool = TOOLS[request["tool"]]
    limit_s = request["limit_s"]
    if request["tool"] != "replay-dd" and "whole" not in request:
        tool("no-bug", 1, 1, 0, 10.0)  # imports, and what is done once
    programs = programs_of(request.get("programs", "bugs"))
    if "whole" in request:
        # One search and nothing else: its whole process is timed by the one who started it.
        print(json.dumps(tool(*request["whole"], limit_s)))
        return
    answers = []
    for kind, steps, runs, seeds in request["searches"]:
        plain = plain_seconds("no-bug", steps)
        answers.append([{**tool(kind, steps, runs, seed, limit_s), "plain": plain} for seed in seeds])
    print(json.dumps(answers))


if __name__ == "__main__":
    main()

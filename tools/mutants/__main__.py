"""`python -m tools.mutants`: what changed on this branch, or the files and folders that are named.

Survivors are told on standard output, each with its difference; progress on standard error. The exit status is 0 if
every mutant was killed, 1 if one survived, 2 for a wrong use, 3 if the tests fail without any mutant.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import queue
import random
import signal
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tools.mutants import choice
from tools.mutants.choice import Project
from tools.mutants.mutations import Mutant, mutants_of
from tools.mutants.workshop import NO_TESTS, Copy

# A mutant may make tests slower without being wrong, and the machine has other things to do.
LIMIT_FACTOR, LIMIT_MORE_S = 4.0, 10.0

Stages = tuple[tuple[Path, ...], ...]


@dataclass(frozen=True)
class Job:
    """A mutant of a module, and the tests that it meets, one stage after the other."""

    path: Path
    source: str
    mutant: Mutant
    stages: Stages

    def difference(self) -> str:
        """What is another line in the mutant."""
        new = self.mutant.apply(self.source)
        lines = difflib.unified_diff(self.source.splitlines(), new.splitlines(), n=0, lineterm="")
        return "\n".join(f"    {line}" for line in list(lines)[3:])


class BaselineError(Exception):
    """The tests do not pass as they are."""


def main(arguments: list[str] | None = None) -> int:
    """Run the tool; answer its exit status."""
    options = _parse(arguments)
    root = Path(options.root).resolve()
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutants"]
    project = Project(root, tuple(settings["packages"]))
    try:
        jobs = _jobs(project, options)
    except ValueError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    if options.sample is not None and options.sample < len(jobs):
        chosen = sorted(random.Random(options.seed).sample(range(len(jobs)), options.sample))
        jobs = [jobs[number] for number in chosen]
    if options.list:
        for job in jobs:
            print(f"{job.path}:{job.mutant.line}: {job.mutant.kind}\n{job.difference()}")
        return 0
    if not jobs:
        print("No mutants: nothing that can be mutated has changed. Name files or folders, or `--since COMMIT`.")
        return 0
    try:
        return Trial(project, jobs, options.jobs).run()
    except BaselineError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 3


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("paths", nargs="*", help="modules or folders to mutate; else the lines changed on this branch")
    parser.add_argument("--since", metavar="COMMIT", help="mutate what changed since then [where the branch left main]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants tried at a time [processors]")
    parser.add_argument("--nearest", action="store_true", help="only the nearest tests, not those of the room")
    parser.add_argument("--sample", type=int, metavar="N", help="try only N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="random seed of --sample [0]")
    parser.add_argument("--list", action="store_true", help="show the mutants and try none")
    parser.add_argument("--root", default=".", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _jobs(project: Project, options: argparse.Namespace) -> list[Job]:
    lines: dict[Path, set[int]] | None = None
    if options.paths:
        paths = choice.named_files(project, options.paths)
    if options.since or not options.paths:
        lines = choice.changed_lines(project, options.since or choice.start_of_branch(project))
        paths = [path for path in paths if path in lines] if options.paths else sorted(lines)
    jobs = []
    for path in paths:
        source = (project.root / path).read_text(encoding="utf-8")
        mutants = [one for one in mutants_of(source) if lines is None or one.line in lines[path]]
        if mutants:
            stages = _stages(project, path, options.nearest)
            jobs += [Job(path, source, one, stages) for one in mutants]
    return jobs


def _stages(project: Project, path: Path, nearest_only: bool) -> Stages:
    nearest = tuple(choice.nearest_tests(project, path))
    room = None if nearest_only and nearest else choice.room_of(project, path)
    stages = tuple(stage for stage in (nearest, (room,) if room else ()) if stage)
    if not stages:
        raise ValueError(f"{path} has no tests near it")
    return stages


class Trial:
    """All jobs, on several copies at a time."""

    def __init__(self, project: Project, jobs: list[Job], workers: int) -> None:
        self._project, self._jobs = project, jobs
        self._workers = max(1, workers)
        self._copies: queue.Queue[Copy] = queue.Queue()
        self._limits_s: dict[tuple[Path, ...], float] = {}
        self._done = 0
        self._lock = threading.Lock()

    def run(self) -> int:
        """Measure the tests without mutants, try the mutants, and tell what survived."""
        # The folder goes last, when no test runs in it any more.
        with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(self._workers) as pool:
            copies = [Copy(self._project, Path(folder) / str(number)) for number in range(self._workers)]
            for copy in copies:
                self._copies.put(copy)
            try:
                stages = sorted({stage for job in self._jobs for stage in job.stages})
                self._say(f"{len(self._jobs)} mutants; first the tests without any")
                for stage, seconds in zip(stages, pool.map(self._measure, stages), strict=True):
                    self._limits_s[stage] = LIMIT_FACTOR * seconds + LIMIT_MORE_S
                verdicts = list(pool.map(self._try, self._jobs))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for copy in copies:
                    copy.stop()
                raise
        return self._tell(verdicts)

    @contextlib.contextmanager
    def _copy(self) -> Iterator[Copy]:
        copy = self._copies.get()
        try:
            yield copy
        finally:
            self._copies.put(copy)

    def _measure(self, stage: tuple[Path, ...]) -> float:
        with self._copy() as copy:
            verdict = copy.test(stage, None)
        if verdict.status == NO_TESTS:
            raise BaselineError(f"there are no tests in {' '.join(map(str, stage))}")
        if verdict.status != 0:
            raise BaselineError(f"tests fail without any mutant:\n{verdict.output}")
        return verdict.seconds

    def _try(self, job: Job) -> str:
        with self._copy() as copy:
            copy.write(job.path, job.mutant.apply(job.source))
            try:
                verdict = self._meet(copy, job)
            finally:
                copy.write(job.path, job.source)
        with self._lock:
            self._done += 1
            self._say(f"{self._done}/{len(self._jobs)} {job.path}:{job.mutant.line} {job.mutant.kind}: {verdict}")
        return verdict

    def _meet(self, copy: Copy, job: Job) -> str:
        for stage in job.stages:
            verdict = copy.test(stage, self._limits_s[stage])
            if verdict.status is None:
                return "killed by the time limit"
            if verdict.status != 0:
                return "killed"
        return "SURVIVED"

    def _tell(self, verdicts: list[str]) -> int:
        survived = [job for job, verdict in zip(self._jobs, verdicts, strict=True) if verdict == "SURVIVED"]
        for job in survived:
            print(f"{job.path}:{job.mutant.line}: {job.mutant.kind}\n{job.difference()}")
        slow = verdicts.count("killed by the time limit")
        share = len(survived) / len(verdicts)
        killed = len(verdicts) - len(survived)
        print(f"{len(verdicts)} mutants: {killed} killed ({slow} by the time limit), ", end="")
        print(f"{len(survived)} survived ({share:.1%})")
        return 1 if survived else 0

    def _say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def _stop(number: int, frame: object) -> None:
    # As an exception, so that tests are ended and the copies removed on the way out.
    raise SystemExit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

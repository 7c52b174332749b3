"""What all benchmarks share: tables, the machine, workers in other interpreters, the pages that hold the results.

Rules of this package:

* A benchmark is a function that gives :class:`Section` objects. What is measured runs in a *worker*: a script that is
  started in an environment of its own, takes JSON as its argument and prints JSON as its last line.
* Ratios come from pairs that were measured one right after the other; a table shows their median.
* Where something could not be measured the table says why.
"""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
REFERENCE = CHECKOUT / "docs" / "reference"
PAGES = (REFERENCE / "measurements.md", REFERENCE / "measured-hunts.md")


class WorkerError(Exception):
    """A worker ended without a result; the text is what a table can show."""


@dataclass(frozen=True)
class Table:
    """A table of text; the first column is aligned to the left, the others to the right."""

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]

    def markdown(self) -> str:
        lines = [self.headers, ["---", *["---:"] * (len(self.headers) - 1)], *self.rows]
        return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


@dataclass(frozen=True)
class Section:
    """A heading with paragraphs and tables under it."""

    title: str
    parts: Sequence[str | Table]

    def markdown(self) -> str:
        parts = [part.markdown() if isinstance(part, Table) else part for part in self.parts]
        return "\n\n".join([f"### {self.title}", *parts])


@dataclass
class Bench:
    """How much to measure, and what is told meanwhile.

    Attributes:
        repeats: how many pairs stand behind each median.
        full: also measure what takes minutes.
        versions: the Pythons to measure under; none for all.
    """

    repeats: int = 3
    full: bool = False
    versions: tuple[str, ...] = ()
    started: float = field(default_factory=time.monotonic)

    def tell(self, text: str) -> None:
        """Show on standard error what is being done."""
        print(f"[{time.monotonic() - self.started:5.0f} s] {text}", file=sys.stderr, flush=True)


Benchmark = Callable[[Bench], Iterable[Section]]


def run_worker(
    python: str | Path,
    script: str,
    request: object,
    *,
    time_limit_s: float = 600,
    before: Sequence[str | Path] = (),
    variables: dict[str, str] | None = None,
) -> Any:
    """The answer of a worker.

    Args:
        python: the interpreter of its environment.
        script: its file name in this folder.
        request: its argument.
        time_limit_s: seconds after which it is killed.
        before: a command to put in front.
        variables: environment variables to add.

    Raises:
        WorkerError: it ended without an answer.
    """
    command = [*before, python, "-W", "ignore", HERE / script, json.dumps(request)]
    words = [str(word) for word in command]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment.update(variables or {})
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=time_limit_s, env=environment)
    except subprocess.TimeoutExpired:
        raise WorkerError(f"more than {time_limit_s:.0f} s") from None
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        raise WorkerError(last[:120])
    return json.loads(lines[-1])


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def ratio(values: Iterable[float]) -> str:
    value = median(values)
    return f"{value:.2f}x" if value < 10 else f"{value:,.1f}x" if value < 100 else f"{value:,.0f}x"


def with_unit(seconds: float) -> str:
    """A duration, readable at any size."""
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"


def machine() -> str:
    """The machine and the date, in one line."""
    model = platform.processor() or platform.machine()
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = found[1] if found else model
        gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
        model += f", {os.cpu_count()} cores, {gigabytes:.0f} GB"
    except OSError:
        pass
    load = f"load {os.getloadavg()[0]:.1f}"
    return f"{model}, {platform.system()}, {load} afterwards; {time.strftime('%Y-%m-%d')}"


def write_into_page(name: str, text: str, pages: Sequence[Path] = PAGES) -> None:
    """Replace the generated part of this name in the page that has it.

    Raises:
        SystemExit: none has.
    """
    start, end = f"<!-- bench: {name} -->", f"<!-- end of bench: {name} -->"
    pattern = re.compile(re.escape(start) + ".*?" + re.escape(end), re.DOTALL)
    for path in pages:
        page = path.read_text(encoding="utf-8")
        if pattern.search(page):
            path.write_text(pattern.sub(lambda _: f"{start}\n\n{text}\n\n{end}", page), encoding="utf-8")
            return
    names = " or ".join(path.name for path in pages)
    raise SystemExit(f"the benchmark {name} has no place: add the lines {start} and {end} to {names}")

"""Run benchmarks: ``python -m tests.benchmarks [--repeats N] [--full] [--write] [NAME ...]``; without a name, all.

``--python VERSION``, once or several times, measures under these Pythons only.
"""

from __future__ import annotations

import argparse
import sys

from tests.benchmarks import (
    calls,
    changes,
    engine,
    events,
    hunts,
    inputs,
    isolation,
    overhead,
    peers,
    program_text,
    search,
    statements,
    throughput,
)
from tests.benchmarks.harness import PAGES, Bench, Benchmark, machine, write_into_page

BENCHMARKS: dict[str, Benchmark] = {
    "overhead": overhead.run,
    "throughput": throughput.run,
    "peers": peers.run,
    "hunts": hunts.run,
    "search": search.run,
    "engine": engine.run,
    "isolation": isolation.run,
    "events": events.run,
    "inputs": inputs.run,
    "calls": calls.run,
    "code": program_text.run,
    "changes": changes.run,
    "statements": statements.run,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description="Measure how fast the tool is.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; all without one")
    parser.add_argument("--repeats", type=int, default=3, help="pairs behind each median (default: 3)")
    parser.add_argument("--full", action="store_true", help="also measure what takes minutes")
    parser.add_argument(
        "--write",
        action="store_true",
        help=f"put the tables into {' and '.join(page.name for page in PAGES)}",
    )
    parser.add_argument("--python", action="append", default=[], metavar="VERSION", help="under these only, as 3.14t")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    bench = Bench(options.repeats, options.full, tuple(options.python))
    for name in options.names or BENCHMARKS:
        sections = [section.markdown() for section in BENCHMARKS[name](bench)]
        text = "\n\n".join([*sections, f"Measured on: {machine()}."])
        print(text + "\n", flush=True)
        if options.write:
            write_into_page(name, text)
    bench.tell("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What `make quick` leaves out: `python -m tools.slow_tests` measures all tests and writes `tests/slow_tests.txt`.

A test is slow if it took more than two seconds, all its parameters together, on the machine that measured. The list has
the names of test functions alone, so that it still holds when files move. A new test is taken for quick until somebody
measures again; do so when `make quick` takes more than five minutes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
LIST = CHECKOUT / "tests" / "slow_tests.txt"
LIMIT_S = 2.0
# These need displays or a browser, judge programs of others, or are demos.
ROOMS_LEFT_OUT = ("compatibility", "demos", "web", "x11")

_DURATION = re.compile(r"^(?P<seconds>\d+\.\d+)s (?:call|setup|teardown) +\S+?\.py::(?:\w+::)*(?P<name>\w+)")


def slow(report: Iterable[str], limit_s: float = LIMIT_S) -> list[str]:
    """The slow tests of a report that pytest made with `--durations=0`."""
    seconds: dict[str, float] = defaultdict(float)
    for line in report:
        if match := _DURATION.match(line):
            seconds[match["name"]] += float(match["seconds"])
    return sorted(name for name, sum_s in seconds.items() if sum_s > limit_s)


def listed() -> frozenset[str]:
    """The tests that `make quick` leaves out."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def main() -> int:
    """Measure, and write the list."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--durations=0"]
    command += [f"--ignore=tests/{room}" for room in ROOMS_LEFT_OUT]
    done = subprocess.run(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(done.stdout)
        return done.returncode
    names = slow(done.stdout.splitlines())
    head = "# Left out by `make quick`; written by `python -m tools.slow_tests`.\n"
    LIST.write_text(head + "".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"{len(names)} slow tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())

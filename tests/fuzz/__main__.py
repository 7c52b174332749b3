"""``python -m tests.fuzz [HOW MANY] [FIRST SEED]``: use so many damaged logs of each format (100,000 by default)."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.formats import FORMATS
from tests.fuzz.readers import fuzz


def main(count: int = 100_000, first: int = 0) -> int:
    """Returns the exit status: 1 where there was a traceback."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "damaged"
        for name, (sample, mutator, use) in FORMATS.items():
            started_s = time.process_time()
            ends, tracebacks = fuzz(mutator(sample(path)), use, path, range(first, first + count))
            told = ", ".join(f"{number:,} {end}" for end, number in ends.most_common())
            print(f"{name}: {told}; {time.process_time() - started_s:.0f} s of processor", flush=True)
            for kind, seed in tracebacks.items():
                print(f"  seed {seed}: {kind}")
            failed |= bool(tracebacks)
    return failed


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))

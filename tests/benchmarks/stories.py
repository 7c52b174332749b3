"""How many stories of the corpus are right: `python -m tests.benchmarks.stories [NAME...]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.schedules.story.corpus_truth import PROGRAMS, TRUTH, faults_of
from tests.schedules.story.programs_explained import explained


def faults_in_story(name: str) -> list[str]:
    """What is wrong with the story of a program of the corpus."""
    with tempfile.TemporaryDirectory() as folder:
        explanation, _ = explained(PROGRAMS / f"{name}.py", Path(folder))
        if explanation.story is None:
            return [f"none: {explanation.why_not}"]
        return faults_of(explanation.story, TRUTH[name], (PROGRAMS / f"{name}.py").read_text().splitlines())


def main(names: list[str]) -> None:
    """Print for each program what is wrong, and how many are right."""
    right = 0
    for name in names:
        faults = faults_in_story(name)
        right += not faults
        print(f"{name:<12} {'; '.join(faults) or 'right'}", flush=True)
    print(f"{right} of {len(names)} are right")


if __name__ == "__main__":
    main(sys.argv[1:] or list(TRUTH))

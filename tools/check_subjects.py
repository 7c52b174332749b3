"""Check that the subjects of commits have at most 72 characters: those since the rule was made.

Merges are left out: git writes their subjects. Where there is no git, as in an unpacked source archive, nothing is
checked.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LONGEST = 72
# The last commits before the rule, on two branches.
BEFORE = (
    "acbb1723ac1f691b8b1d1cdc79c896f62b95aad7",
    "560984581b956106a7e5f03aa93ba01c9bfb0616",
)


def too_long(subjects: list[str]) -> list[str]:
    """The subjects that are longer than the rule allows."""
    return [subject for subject in subjects if len(subject) > LONGEST]


def subjects_since(checkout: Path, *commits: str) -> list[str]:
    """The subjects of the commits that came after these; none where git does not know one of them."""
    command = ["git", "log", "--no-merges", "--format=%s", "HEAD", "--not", *commits]
    try:
        done = subprocess.run(command, cwd=checkout, capture_output=True, text=True)
    except FileNotFoundError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def main() -> int:
    """Tell the subjects that are too long."""
    found = too_long(subjects_since(Path(__file__).resolve().parent.parent, *BEFORE))
    for subject in found:
        print(f"longer than {LONGEST} characters ({len(subject)}): {subject}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

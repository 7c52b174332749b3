"""Which lines are mutated, and which tests a mutant meets.

Which lines: what has changed since a commit (the point where this branch left `main`, unless another is named), or
whole files and folders.

Which tests, for `package/room/corner/module.py`:

1. *nearest*: `test_module.py` and `test_module_*.py` in the folders of the tests, and the test files that import the
   module;
2. *room*: all of `tests/room/corner`, or of the nearest folder above it that there is.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_HUNK = re.compile(r"^@@ -\S+ \+(?P<first>\d+)(?:,(?P<count>\d+))? @@")


@dataclass(frozen=True)
class Project:
    """A checkout: its folder, its packages and the folder of its tests."""

    root: Path
    packages: tuple[str, ...]
    tests: str = "tests"

    def sources(self) -> list[Path]:
        """The modules of the packages, relative to the root."""
        found = [path for package in self.packages for path in (self.root / package).rglob("*.py")]
        return sorted(path.relative_to(self.root) for path in found)

    def test_files(self) -> list[Path]:
        """The files with tests, relative to the root."""
        return sorted(path.relative_to(self.root) for path in (self.root / self.tests).rglob("test_*.py"))


def changed_lines(project: Project, since: str) -> dict[Path, set[int]]:
    """The lines of each module that are new or another since a commit, also those that are not committed yet."""
    changed: dict[Path, set[int]] = {}
    for path in project.sources():
        if _git(project, "ls-files", "--", str(path)).strip():
            lines: set[int] = set()
            for line in _git(project, "diff", "--unified=0", since, "--", str(path)).splitlines():
                if hunk := _HUNK.match(line):
                    first = int(hunk["first"])
                    lines.update(range(first, first + int(hunk["count"] or 1)))
        else:
            lines = set(range(1, len((project.root / path).read_text(encoding="utf-8").splitlines()) + 1))
        if lines:
            changed[path] = lines
    return changed


def start_of_branch(project: Project) -> str:
    """The commit where this branch left `main`."""
    return _git(project, "merge-base", "HEAD", "main").strip()


def named_files(project: Project, names: list[str]) -> list[Path]:
    """The modules that are named, or that lie in the folders that are named.

    Raises:
        ValueError: a name is that of no module and of no folder with modules.
    """
    found: set[Path] = set()
    for name in names:
        wanted = (project.root / name).resolve()
        here = [path for path in project.sources() if (project.root / path).resolve().is_relative_to(wanted)]
        if not here:
            raise ValueError(f"{name} has no modules of {' or '.join(project.packages)}")
        found.update(here)
    return sorted(found)


def nearest_tests(project: Project, module: Path) -> list[Path]:
    """The test files that have the name of the module or import it."""
    name = "__init__" if module.stem == "__init__" else module.stem
    dotted = ".".join(module.with_suffix("").parts).removesuffix(".__init__")
    above, _, last = dotted.rpartition(".")
    imports = re.compile(
        rf"^\s*(?:from {re.escape(dotted)} import|import {re.escape(dotted)}\b"
        rf"|from {re.escape(above)} import .*\b{re.escape(last)}\b)",
        re.MULTILINE,
    )
    own, others = [], []
    for path in project.test_files():
        if path.stem == f"test_{name}" or path.stem.startswith(f"test_{name}_"):
            own.append(path)
        elif imports.search((project.root / path).read_text(encoding="utf-8")):
            others.append(path)
    return own + others


def room_of(project: Project, module: Path) -> Path | None:
    """The folder of tests that mirrors the one of the module, or the nearest above it; none if there is none."""
    rooms = list(module.parts[1:-1])
    tests = Path(project.tests)
    while rooms:
        # The last room may have its tests directly below the folder of all tests.
        for folder in (tests.joinpath(*rooms), tests / rooms[-1]):
            if any((project.root / folder).rglob("test_*.py")):
                return folder
        rooms.pop()
    return None


def _git(project: Project, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=project.root, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout

"""Finds the source files that the rules of the house are about."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tests.conftest import PROJECT

# Everything of the checkout but what tools make and keep there.
ROOMS = (".ci", "demos", "docs", "recorders", "replay_dd", "tests", "tools")


def package_folder(name: str) -> Path:
    """Where a package of ours is installed."""
    return Path(str(files(name)))


def package_sources(name: str) -> list[Path]:
    """The Python files of a package of ours, as installed."""
    return sorted(package_folder(name).rglob("*.py"))


def text_files() -> list[Path]:
    """Every text file that we write: of the checkout (or its copy), and of the installed packages."""
    found = {path for path in PROJECT.iterdir() if path.is_file() and path.name != ".git"}  # a file in a worktree
    folders = [PROJECT / room for room in ROOMS] + [package_folder("replay_dd"), package_folder("recorders")]
    for folder in folders:
        found.update(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(path for path in found if path.suffix not in {".so", ".pyc", ".png"})

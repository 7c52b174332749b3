"""Versions of programs for tests, and what is run in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from replay_dd.changes.difference import Difference
from replay_dd.changes.isolate import ChangesIsolation
from replay_dd.changes.patch import patch_between
from replay_dd.changes.tree import Tree, read_tree
from replay_dd.changes.workshop import Target
from replay_dd.dd import EMPTY

Files = Mapping[str, str | bytes]


def write(root: Path, files: Files) -> Path:
    """Write files below a folder, which is made."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    root.mkdir(exist_ok=True)
    return root


def tree(root: Path, files: Files) -> Tree:
    """A version with these files."""
    return read_tree(write(root, files))


def difference(folder: Path, old: Files, new: Files) -> Difference:
    """What leads from one version to another."""
    return Difference(tree(folder / "old", old), tree(folder / "new", new))


def python(*arguments: str) -> Target:
    """Run Python in a version."""
    return Target((sys.executable, *arguments), environment=dict(os.environ), time_limit_s=60)


OLD = """\
def total(prices):
    result = 0
    for price in prices:
        result += price
    return result


def average(prices):
    if not prices:
        return 0
    return total(prices) / len(prices)


def show(value):
    print(f"{value:.2f}")
"""
# The guilty change is in `average`; the others are harmless.
NEW = """\
def total(prices):
    return sum(prices)


def average(prices):
    return total(prices) / len(prices)


def show(value, digits=2):
    print(f"{value:.{digits}f}")
"""
TEST = "import prices; prices.show(prices.average([]))"


def patch(found: ChangesIsolation) -> list[str]:
    """The lines that the patch removes and adds."""
    assert found.needed is not None
    lines = patch_between(found.difference, EMPTY, found.needed).decode().splitlines()
    return [line for line in lines if line[0] in "+-" and not line.startswith(("+++", "---"))]

"""The recorders, found through their entry points."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import replay_dd
from replay_dd.errors.machine import PackageShadowedError
from replay_dd.errors.user import UsageError


def recorder_named(name: str) -> Any:
    """The recorder with that name.

    Raises:
        UsageError: there is none.
    """
    from importlib.metadata import entry_points  # slow to import, and most commands record nothing

    for entry_point in entry_points(group="replay_dd.recorders"):
        if entry_point.name == name:
            return entry_point.load()()
    raise UsageError(f"There is no recorder `{name}`.", "Install replay-dd as a package: `pip install replay-dd`.")


def check_recorders() -> None:
    """Check that the package ``recorders`` is our own: other projects use that name too.

    Raises:
        PackageShadowedError: another package of that name is found first.
    """
    found = importlib.util.find_spec("recorders")
    origin = found.origin if found is not None else None
    expected = Path(replay_dd.__file__).resolve().parent.parent / "recorders" / "__init__.py"
    if origin is None or Path(origin).resolve() != expected:
        raise PackageShadowedError(f"replay-dd needs its own package `recorders`, but {origin} is found first.")

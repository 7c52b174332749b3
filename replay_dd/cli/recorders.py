"""The recorders, through their entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from replay_dd.errors.user import UsageError


def recorder_named(name: str) -> Any:
    """The recorder of that name, through its entry point.

    Raises:
        UsageError: there is none.
    """
    for entry_point in entry_points(group="replay_dd.recorders"):
        if entry_point.name == name:
            return entry_point.load()()
    raise UsageError(
        f"There is no recorder called `{name}`.", "Install replay-dd as a package: `pip install replay-dd`."
    )

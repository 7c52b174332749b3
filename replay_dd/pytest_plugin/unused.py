"""Tells that options had no effect, as nothing said what to hunt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from replay_dd.pytest_plugin.hunts import has_hunts

_XDIST = "dsession"  # in its workers, tests may have hunted calls of their own


class UnusedOptions:
    """Says so at the end of a run, unless calls of the fixture were hunted.

    Args:
        config: of the run of pytest.
        options: that only say how to hunt.
    """

    def __init__(self, config: pytest.Config, options: Sequence[str]) -> None:
        self._config = config
        self._options = options

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Tell it."""
        if has_hunts(self._config) or self._config.pluginmanager.hasplugin(_XDIST):
            return
        names = ", ".join(f"`{name}`" for name in self._options)
        has = "has" if len(self._options) == 1 else "have"
        terminalreporter.section("replay-dd")
        terminalreporter.write_line(
            f"{names} {has} no effect without `--replay-dd` or `--replay-dd-on-failure`: nothing was hunted.",
            yellow=True,
        )

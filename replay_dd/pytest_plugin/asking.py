"""What is asked for: by options, by settings in a file, by the marker of a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from replay_dd.pytest_plugin.budget import seconds_of
from replay_dd.schedules.replaying.record import GRANULARITIES, STRATEGIES

_CHOICES = {"granularity": GRANULARITIES, "strategy": STRATEGIES}


@dataclass(frozen=True)
class Asked:
    """How a test is hunted.

    Attributes:
        runs: the maximum number of schedules; 0 for none but those of known races.
        time_s: seconds for the test.
        strategy: how to choose schedules; None for a mixture.
        granularity: where threads can be switched.
        max_delay_s: how late a thread may be, in seconds, where a sleep or time-out ends early.
        known: logs of races that the test once had.
        for_several: whether that is said for several tests at once, so that a log may be of another one of them.
    """

    runs: int
    time_s: float
    strategy: str | None = None
    granularity: str = "access"
    max_delay_s: float = 0.0
    known: tuple[str, ...] = ()
    for_several: bool = False

    def with_given(self, given: Mapping[str, Any]) -> Asked:
        """The same, except for what is given here by name.

        Raises:
            ValueError: a value makes no sense.
        """
        asked = self
        for name, value in given.items():
            if name in _CHOICES:
                if value not in _CHOICES[name]:
                    raise ValueError(f"{name} is one of {', '.join(_CHOICES[name])}")
                asked = replace(asked, **{name: value})
            elif name == "runs":
                if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                    raise ValueError("runs is a number of runs, or 0 to leave the test alone")
                asked = replace(asked, runs=value)
            elif name == "time":
                asked = replace(asked, time_s=seconds_of(str(value)))
            elif name == "max_delay":
                asked = replace(asked, max_delay_s=0.0 if str(value) in ("0", "0s") else seconds_of(str(value)))
            elif name == "known":
                known = (value,) if isinstance(value, str) else value
                if not isinstance(known, list | tuple) or not all(isinstance(one, str) for one in known):
                    raise ValueError("known is the name of a log, or a list of such names")
                asked = replace(asked, known=tuple(known))
        return asked


def asked_by_marker(asked: Asked, item: pytest.Item) -> Asked:
    """What is asked for a test, if it has a marker.

    Args:
        asked: for all tests.
        item: the test.

    Raises:
        ValueError: the marker makes no sense.
    """
    marker = item.get_closest_marker("replay_dd")
    if marker is None:
        return asked
    if marker.args or not marker.kwargs.keys() <= {"runs", "time", "max_delay", "known", *_CHOICES}:
        raise ValueError("it takes runs, time, granularity, strategy, max_delay and known, by these names")
    of_it_alone = marker in item.own_markers and not hasattr(item, "callspec")
    return replace(asked.with_given(marker.kwargs), for_several=not of_it_alone)


def log_path(name: str, folders: Sequence[Path]) -> Path:
    """The file that a marker names, in the first of these folders that has it.

    Raises:
        ValueError: there is none.
    """
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise ValueError(f"there is no log at {folders[0] / name}")


def asked_of(config: pytest.Config) -> Asked:
    """What the options and settings of a run of pytest ask for.

    Raises:
        pytest.UsageError: they make no sense.
    """
    given: dict[str, Any] = {}
    for name in ("time", "max_delay", *_CHOICES):
        value = option(config, name.replace("_", "-"))
        if value:
            given[name] = value
    asked = Asked(_runs(config), 0)
    for name, value in given.items():
        try:
            asked = asked.with_given({name: value})
        except ValueError as error:
            raise pytest.UsageError(f"{error} (--replay-dd-{name.replace('_', '-')})") from error
    return asked


def _runs(config: pytest.Config) -> int:
    by_option = config.getoption("--replay-dd")
    runs = str(by_option or config.getini("replay_dd_runs"))
    named = "--replay-dd" if by_option else "The setting replay_dd_runs"
    if runs.removeprefix("-").isdecimal() and int(runs) <= 0:
        raise pytest.UsageError(f"{named} takes the maximum number of runs, which is 1 or more, not {runs}.")
    if not runs.isdecimal():
        hint = f" Write `--replay-dd=100 {runs}`, or the option last." if by_option else ""
        raise pytest.UsageError(f"{named} takes a number of runs, not `{runs}`.{hint}")
    return int(runs)


def total_s(config: pytest.Config) -> float | None:
    """Seconds for all hunts together; None for no limit.

    Raises:
        pytest.UsageError: that makes no sense.
    """
    total = option(config, "total")
    try:
        return seconds_of(total) if total else None
    except ValueError as error:
        raise pytest.UsageError(f"{error} (--replay-dd-total)") from error


def option(config: pytest.Config, name: str) -> str:
    """An option, or the setting of that name."""
    return str(config.getoption(f"--replay-dd-{name}") or config.getini(f"replay_dd_{name.replace('-', '_')}"))

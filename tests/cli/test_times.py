"""Times on command lines: the same forms wherever one is given."""

from __future__ import annotations

import click
import pytest

from replay_dd.cli.command import Seconds
from replay_dd.cli.main import cli
from replay_dd.pytest_plugin.budget import seconds_of


@pytest.mark.parametrize(
    ("written", "seconds"), [("10ms", 0.01), ("0.5s", 0.5), ("90", 90), ("10m", 600), ("2h", 7200), ("1.5m", 90)]
)
def test_commands_and_the_plugin_take_the_same_times(written: str, seconds: float) -> None:
    assert Seconds().convert(written, None, None) == pytest.approx(seconds)
    assert seconds_of(written) == pytest.approx(seconds)


@pytest.mark.parametrize("written", ["ms", "5x", "1 0s", "", "inf", "nan", "9" * 400, "1e3"])
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(click.BadParameter):
        Seconds().convert(written, None, None)


def test_every_option_that_takes_seconds_takes_units() -> None:
    context = click.Context(cli)
    options = [
        option
        for name in cli.list_commands(context)
        for option in getattr(cli.get_command(context, name), "params", [])
        if isinstance(option, click.Option) and "SECONDS" in (option.metavar or "")
    ]
    assert len(options) > 10
    assert not [option.opts for option in options if not isinstance(option.type, Seconds)]

"""Options of all commands: one name for one thing, and old names still work."""

from __future__ import annotations

import click
import pytest

from replay_dd.cli.command import Command, Option
from replay_dd.cli.main import COMMANDS, cli

pytestmark = pytest.mark.once

# Command, old name, name, a value, and what the command needs besides.
RENAMED = [
    ("events", "--repeat", "--repeats", "3", ["LOG"]),
    ("web", "--repeat", "--repeats", "3", ["FLOW"]),
    ("changes", "--seeds", "--runs", "5", ["OLD", "NEW", "--", "true"]),
    ("show", "--thumbnails", "--pictures", "pictures", ["LOG"]),
    ("call", "--failure", "--grep", "KeyError", ["json:loads", "--args-file", __file__]),
    ("web", "--text", "--grep", "gone", ["FLOW"]),
    ("events", "--text", "--grep", "gone", ["LOG"]),
    ("replay", "--text", "--grep", "gone", ["LOG"]),
]
IDS = [f"{command}{old}" for command, old, *_ in RENAMED]


def command_of(name: str) -> click.Command:
    found = cli.get_command(None, name)
    assert found is not None
    return found


def options_of(name: str) -> list[click.Option]:
    return [parameter for parameter in command_of(name).params if isinstance(parameter, click.Option)]


def parsed(name: str, *arguments: str) -> dict[str, object]:
    with click.Context(command_of(name), info_name=name) as context:
        context.command.parse_args(context, list(arguments))
        return context.params


@pytest.mark.parametrize(("name", "old", "new", "value", "more"), RENAMED, ids=IDS)
class TestOldNames:
    def test_means_the_same(
        self, name: str, old: str, new: str, value: str, more: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        expected = parsed(name, new, value, *more)
        assert capsys.readouterr().err == ""
        assert expected != parsed(name, *more)
        for given in ([old, value], [f"{old}={value}"]):
            assert parsed(name, *given, *more) == expected
            assert f"`{old}` is now called `{new}`" in capsys.readouterr().err

    def test_the_new_one_wins(self, name: str, old: str, new: str, value: str, more: list[str]) -> None:
        other = "7" if value.isdigit() else "other"
        expected = parsed(name, new, value, *more)
        assert parsed(name, new, value, old, other, *more) == expected
        assert parsed(name, old, other, new, value, *more) == expected

    def test_is_shown_nowhere(self, name: str, old: str, new: str, value: str, more: list[str]) -> None:
        found = command_of(name)
        with click.Context(found, info_name=name) as context:
            text = found.get_help(context)
            completed = [item.value for item in found.shell_complete(context, "--")]
        assert new in text
        assert f"{old} " not in text
        assert new in completed
        assert old not in completed


def test_an_old_name_is_checked_like_the_new_one() -> None:
    with pytest.raises(click.BadParameter, match="0 is not in the range"):
        parsed("web", "--repeat", "0", "FLOW")


def test_an_old_name_counts_as_given() -> None:
    option = Option("--new", section="any", help="any", old_name="--old", default="by default")
    run = Command("run", params=[option], callback=lambda new: None)
    for arguments, source in (([], "DEFAULT"), (["--old", "it"], "COMMANDLINE")):
        with click.Context(run) as context:
            run.parse_args(context, arguments)
            where = context.get_parameter_source("new")
        assert where is not None
        assert where.name == source


def test_no_name_is_another_with_an_s() -> None:
    names = {option.opts[-1] for command in COMMANDS for option in options_of(command)}
    assert {"--runs", "--repeats", "--jobs"} <= names  # else nothing was looked at
    assert [name for name in sorted(names) if f"{name}s" in names] == []


@pytest.mark.parametrize(
    ("name", "metavar"),
    [("--failure", "TEXT"), ("--grep", "REGEX"), ("--runs", "N"), ("--repeats", "N"), ("--pictures", "DIR")],
)
def test_a_name_takes_the_same_everywhere(name: str, metavar: str) -> None:
    taken = {option.metavar for command in COMMANDS for option in options_of(command) if name in option.opts}
    assert taken == {metavar}

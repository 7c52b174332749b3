"""Each command prints one JSON object with `--json`, which keeps to the published schema."""

from __future__ import annotations

import json
from pathlib import Path

import click
import jsonschema
import pytest

from replay_dd.cli.main import COMMANDS, cli
from tests.cli.forked import CommandServer
from tests.cli.schemas import OTHERS, SEARCHES, checked, schema
from tests.cli.tool import RACE, Workshop, make_workshop

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory, commands: CommandServer) -> Workshop:
    shop = make_workshop(tmp_path_factory.mktemp("json"), commands)
    shop.write(RACE)
    assert shop.run("hunt", "--seed", "0", *shop.program()).status == 0
    return shop


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_it(command: str) -> None:
    there = cli.get_command(None, command)
    assert there is not None
    assert "--json" in {name for option in there.params if isinstance(option, click.Option) for name in option.opts}


@pytest.mark.parametrize("name", [SEARCHES, OTHERS])
def test_the_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_a_key_that_is_not_in_the_schema_is_noticed() -> None:
    told = {"format": "replay-dd doctor", "version": 1, "works": True, "findings": []}
    assert checked(json.dumps(told)) == told
    with pytest.raises(jsonschema.ValidationError):
        checked(json.dumps({**told, "more": 1}))


def test_hunt(race: Workshop, tmp_path: Path) -> None:
    done = race.run("hunt", "--json", "-o", tmp_path, *race.program())
    told = checked(done.stdout)
    assert done.status == 0
    assert told["failures"][0]["text"].startswith("ValueError: balance is 1")
    assert {Path(path).name for path in told["files"].values()} == {"pass.log", "fail.log"}
    assert all(Path(path).exists() for path in told["files"].values())


def test_hunt_without_a_failure(race: Workshop, tmp_path: Path) -> None:
    race.write("import threading\nthread = threading.Thread(target=print)\nthread.start()\nthread.join()\n", "fine.py")
    done = race.run("hunt", "--json", "--runs", "3", "-o", tmp_path, *race.program(name="fine.py"))
    told = checked(done.stdout)
    assert (done.status, told["failures"], "failing" in told["files"], told["runs"]) == (1, [], False, 3)
    assert told["hints"]


def test_record(race: Workshop, tmp_path: Path) -> None:
    done = race.run("record", "--json", "-o", tmp_path / "run.log", *race.program())
    told = checked(done.stdout)
    assert (done.status, told["kind"], told["output"]) == (0, "schedule log", "all there\n")
    assert told["recording"]["ending"]["failed"] is False
    assert Path(told["files"]["log"]).exists()


def test_replay(race: Workshop) -> None:
    for log, outcome, status in (("pass.log", "PASS", 0), ("fail.log", "FAIL", 1)):
        done = race.run("replay", "--json", log)
        told = checked(done.stdout)
        assert (done.status, told["outcome"], told["divergence"], told["relocated"]) == (status, outcome, None, None)
    assert "balance is 1" in told["output"]


def test_replay_of_a_changed_program(race: Workshop, tmp_path: Path) -> None:
    shop = make_workshop(tmp_path, race.commands)
    shop.write(RACE)
    assert shop.run("hunt", *shop.program()).status == 0
    shop.write("# moved\n" + RACE)
    told = checked(shop.run("replay", "--json", "fail.log").stdout)
    assert (told["outcome"], told["relocated"]["missed"]) == ("FAIL", [])
    assert len(told["relocated"]["moved"]) == told["relocated"]["switches"] > 0
    shop.write(RACE.replace("account.balance = before + 1", "account.balance = 1 + before"))
    done = shop.run("replay", "--json", "fail.log")
    told = checked(done.stdout)
    if told["relocated"]["missed"]:
        assert (done.status, told["outcome"]) == (125, "UNRESOLVED")


@pytest.mark.parametrize("options", [(), ("--stacks",)])
def test_show(race: Workshop, options: tuple[str, ...]) -> None:
    told = checked(race.run("show", "--json", *options, "fail.log").stdout)
    assert told["ending"]["text"].startswith("ValueError")
    assert ("stacks" in told) == bool(options)


def test_schedules_and_minimize(race: Workshop, tmp_path: Path) -> None:
    told = checked(race.run("schedules", "--json", "-o", tmp_path, "pass.log", "fail.log").stdout)
    assert told["circumstance"] == "schedules"
    told = checked(race.run("minimize", "--json", "-o", tmp_path / "minimal.log", "fail.log").stdout)
    assert told["circumstance"] == "schedule"


def test_doctor(race: Workshop) -> None:
    done = race.run("doctor", "--json")
    told = checked(done.stdout)
    assert done.status == (0 if told["works"] else 1)
    assert {"window manager", "gdb"} <= {finding["what"] for finding in told["findings"]}


def test_two_printed_forms_are_refused(race: Workshop) -> None:
    done = race.run("schedules", "--json", "--short", "pass.log", "fail.log")
    assert "`--short` and `--json`" in done.refused(2, "usage")
    done = race.run("show", "--markdown", "-", "--json", "fail.log")
    assert "--markdown" in done.refused(2, "usage")


def test_no_form_is_written_over_the_other(race: Workshop, tmp_path: Path) -> None:
    same = tmp_path / "report"
    race.run_here("show", "--markdown", same, "--mermaid", same, "fail.log").refused(2, "usage")
    assert not same.exists()

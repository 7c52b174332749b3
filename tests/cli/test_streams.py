"""Standard streams that cannot be written, and paths that need quotes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.tool import RACE, Workshop

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full"),
]

FAIL = "found/fail.log"


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def streams(request: pytest.FixtureRequest, race: Workshop) -> Workshop:
    """The race; not by its name, as pytest would then hunt for it before each test."""
    return Workshop(race.folder, race.temporary, {"PYTHONUNBUFFERED": request.param})


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (("show", FAIL), 5),
        (("show", "--json", FAIL), 5),
        (("--help",), 5),
        (("--version",), 5),
        (("hunt", "--help"), 5),
    ],
)
def test_a_full_disk_behind_standard_output(command: tuple[str, ...], status: int, streams: Workshop) -> None:
    done = streams.run(*command, shell='"$0" "$@" > /dev/full')
    said = done.refused(status, "output-unwritable")
    assert "Standard output cannot be written: No space left on device." in said
    assert "Exception ignored" not in said


def test_a_full_disk_is_no_verdict(streams: Workshop) -> None:
    done = streams.run("replay", FAIL, shell='"$0" "$@" > /dev/full')
    assert done.status == 133
    assert "Standard output cannot be written" in done.stderr
    assert "replay-dd: this is a bug" not in done.stderr


def test_a_full_disk_behind_the_completion_script(streams: Workshop) -> None:
    streams.variables["_REPLAY_DD_COMPLETE"] = "bash_source"
    streams.run(shell='"$0" "$@" > /dev/full').refused(5, "output-unwritable")


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (("show", FAIL), 0),
        (("show", "nothing"), 5),
        (("replay", "found/pass.log"), 0),
        (("replay", FAIL), 1),
        (("no-such-command",), 2),
    ],
)
def test_a_full_disk_behind_standard_error(command: tuple[str, ...], status: int, streams: Workshop) -> None:
    """Messages are lost; the status is not."""
    done = streams.run(*command, shell='"$0" "$@" 2> /dev/full')
    assert done.status == status


def test_recording_goes_on_where_nobody_can_be_told(shop: Workshop) -> None:
    shop.write(RACE)
    done = shop.run("record", "-o", "a.log", *shop.program(), shell='"$0" "$@" 2> /dev/full')
    assert (done.status, done.stdout) == (0, "all there\n")
    assert shop.run("replay", "a.log").status == 0


def test_both_streams_full(streams: Workshop) -> None:
    assert streams.run("show", FAIL, shell='"$0" "$@" > /dev/full 2> /dev/full').status == 5


def test_printed_commands_can_be_pasted(shop: Workshop) -> None:
    shop.write(RACE)
    folder = "it's found; $HOME"
    hunted = shop.run("hunt", "-o", folder, *shop.program())
    assert hunted.status == 0, hunted.stderr
    minimized = shop.run("minimize", "-o", f"{folder}/m.log", f"{folder}/fail.log")
    told = re.findall(r"(replay-dd (?:replay|schedules) .*)$", hunted.stdout + minimized.stdout, re.MULTILINE)
    assert [shlex.split(line) for line in told] == [
        ["replay-dd", "replay", f"{folder}/pass.log"],
        ["replay-dd", "replay", f"{folder}/fail.log"],
        ["replay-dd", "schedules", f"{folder}/pass.log", f"{folder}/fail.log"],
        ["replay-dd", "replay", f"{folder}/m.log"],
    ]

"""A recording that was not made here runs nothing before the user has agreed, and never with dangerous variables."""

from __future__ import annotations

import ast
import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from replay_dd.events.log import write_session
from replay_dd.events.model import Session
from tests.cli.kinds import FLOW, SESSION
from tests.cli.tool import RACE, TOOL, Workshop
from tests.fuzz.mutations import with_checksum

pytestmark = pytest.mark.once

RAN = "ran"
PROGRAM = f"open({RAN!r}, 'a').close()\n{RACE}import os\nopen('environment', 'w').write(repr(dict(os.environ)))\n"


@pytest.fixture
def made(shop: Workshop) -> Workshop:
    """A workshop with a program that leaves a trace, and logs of it."""
    shop.write(PROGRAM)
    assert shop.run("record", "-o", "own.log", *shop.program()).status == 0
    return shop


def changed(path: Path, new: Path, changes: dict[str, dict[str, object]]) -> None:
    """A schedule log with other members, as a stranger would write it, with a checksum that fits."""
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    for line in lines:
        for name, members in changes.items():
            if name in line:
                line[name].update(members)
    new.write_bytes(with_checksum(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))


def clear(shop: Workshop) -> None:
    for name in (RAN, "environment"):
        (shop.folder / name).unlink(missing_ok=True)


def has_run(shop: Workshop) -> bool:
    return (shop.folder / RAN).exists()


def test_a_log_that_was_made_here_just_replays(made: Workshop) -> None:
    clear(made)
    assert made.run("replay", "own.log").status == 0
    assert has_run(made)
    shutil.copy(made.folder / "own.log", made.folder / "copy.log")
    assert made.run("replay", "copy.log").status == 0


EVIL = {"environment": {"LD_PRELOAD": "/evil.so", "PATH": "/evil", "PYTHONPATH": "evil", "LANG": "C.UTF-8", "X": "1"}}


@pytest.mark.parametrize("command", ["replay", "minimize", "schedules"])
def test_a_strangers_log_is_told_and_not_run(command: str, made: Workshop) -> None:
    changed(made.folder / "own.log", made.folder / "x.log", {"program": EVIL})
    clear(made)
    logs = ["x.log", "x.log"] if command == "schedules" else ["x.log"]
    said = made.run(command, *logs).refused(130 if command == "replay" else 2, "not-made-here")
    assert not has_run(made)
    told = [line.split() for line in said.splitlines()]
    assert ["command", "python", "prog.py"] in told
    assert ["in", "folder", str(made.folder)] in told
    assert ["with", "X=1"] in told
    for refused in ("LD_PRELOAD=/evil.so", "PATH=/evil", "PYTHONPATH=evil"):
        assert ["without", refused] in told
    assert said.count("command ") == 1, "the same is told once"
    assert "--yes" in said


@pytest.mark.parametrize("way", ["--yes", "REPLAY_DD_YES"])
def test_whoever_agrees_gets_no_dangerous_variables(way: str, made: Workshop) -> None:
    changed(made.folder / "own.log", made.folder / "x.log", {"program": EVIL})
    clear(made)
    if way == "REPLAY_DD_YES":
        made.variables[way] = "1"
    done = made.run("replay", "x.log", *([way] if way == "--yes" else []), "--accept-changes")
    assert done.status == 0, done.stderr
    there = (made.folder / "environment").read_text()
    assert "'X': '1'" in there
    assert "evil" not in there
    made.variables["REPLAY_DD_YES"] = "0"
    assert made.run("replay", "x.log").status == 130, "it stays a stranger's"


def test_what_is_not_told_in_whole_is_not_given(made: Workshop) -> None:
    many = {f"A{number:03}": "1" for number in range(120)} | {"LONG": " " * 300 + "evil", "Z": "evil"}
    changed(made.folder / "own.log", made.folder / "x.log", {"program": {"environment": many}})
    told = made.run_here("replay", "x.log").refused(130, "not-made-here")
    clear(made)
    made.run("replay", "--yes", "--accept-changes", "x.log")
    there = ast.literal_eval((made.folder / "environment").read_text())
    given = {name for name in many if name in there}
    assert given == {name for name in many if f"  with         {name}=1\n" in told}
    assert len(given) == 100
    assert "evil" not in str(there)


def test_what_a_command_makes_of_a_strangers_log_is_made_here(race: Workshop, shop: Workshop) -> None:
    shop.write(RACE)
    for name in ("pass", "fail"):
        changed(race.folder / "found" / f"{name}.log", shop.folder / f"{name}.log",
                {"program": {"directory": str(shop.folder), **EVIL}})  # fmt: skip
    assert shop.run("schedules", "--yes", "pass.log", "fail.log").status == 0
    assert shop.run("replay", "minimal-fail.log").status == 1
    assert "evil" not in (shop.folder / "minimal-fail.log").read_text()


def test_showing_a_strangers_log_asks_nothing(made: Workshop) -> None:
    changed(made.folder / "own.log", made.folder / "x.log", {"program": EVIL})
    clear(made)
    assert made.run("show", "x.log").status == 0
    assert not has_run(made)


def test_modules_that_a_log_preloads_are_told(made: Workshop) -> None:
    changed(made.folder / "own.log", made.folder / "x.log", {"settings": {"preload": ["antigravity"]}})
    assert "antigravity" in made.run_here("replay", "x.log").refused(130, "not-made-here")


@pytest.mark.parametrize("answer, runs", [("y", True), ("n", False), ("", False), ("\x04", False)])
def test_on_a_terminal_the_user_is_asked(answer: str, runs: bool, made: Workshop) -> None:
    changed(made.folder / "own.log", made.folder / "x.log", {"program": EVIL})
    clear(made)
    master, slave = pty.openpty()
    with subprocess.Popen(
        [TOOL, "replay", "x.log"], cwd=made.folder, env=made.environment(), stdin=slave, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(master, 4096)
        assert b"LD_PRELOAD" in said
        os.write(master, answer.encode() + (b"" if answer == "\x04" else b"\n"))
        while True:
            try:
                if not os.read(master, 4096):
                    break
            except OSError:  # the other side is closed
                break
        status = process.wait(60)
    os.close(master)
    assert has_run(made) is runs
    assert status == (0 if runs else 130)


# -- GUI sessions and user flows -------------------------------------------------------------------------------------


def strangers_session(shop: Workshop, name: str = "session.log") -> Session:
    """A session that writes a trace if it is played at all: by its program or by its window manager."""
    for program in ("program", "manager"):
        path = shop.folder / program
        path.write_text(f"#!/bin/sh\ntouch {shop.folder / RAN}\n")
        path.chmod(0o755)
    write_session(SESSION, shop.folder / name)
    lines = [json.loads(line) for line in (shop.folder / name).read_text().splitlines()]
    for line in lines:
        if "program" in line:
            line["program"] = {"command": ["./program"], "directory": str(shop.folder), **EVIL}
        if "recording" in line:
            line["recording"]["window_manager"] = str(shop.folder / "manager")
    (shop.folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return SESSION


@pytest.mark.parametrize(
    "arguments, status",
    [
        (["replay"], 130),
        (["events"], 2),
        (["show", "--pictures", "pictures"], 2),
    ],
)
def test_a_strangers_session_is_not_played(arguments: list[str], status: int, shop: Workshop) -> None:
    strangers_session(shop)
    said = shop.run(*arguments, "session.log").refused(status, "not-made-here")
    assert "./program" in said
    assert "LD_PRELOAD=/evil.so" in said
    assert not has_run(shop)


def test_nor_a_strangers_session_that_passes(shop: Workshop) -> None:
    write_session(SESSION, shop.folder / "own.log")
    strangers_session(shop, "passing.log")
    said = shop.run_here("events", "own.log", "--passing", "passing.log").refused(2, "not-made-here")
    assert "passing.log" in said


def test_a_session_names_no_other_window_manager_than_a_known_one(shop: Workshop) -> None:
    strangers_session(shop)
    (shop.folder / "program").write_text("#!/bin/sh\n")
    shop.run("replay", "session.log", "--yes", "--start-limit", "5")
    assert not has_run(shop)


@pytest.mark.parametrize(
    "url, asked",
    [
        ("file:///etc/passwd", True),
        ("file:etc/passwd", True),
        ("file:\\\\\\etc\\passwd", True),
        ("FILE:////etc/passwd", True),
        (" fi\nle:///etc/passwd", True),
        ("view-source:file:///etc/passwd", True),
        ("chrome://version", True),
        ("{here}/../secret.html", True),
        ("{here}/%2e%2e/secret.html", True),
        ("{here}/link.html", True),
        ("file://server/share", True),
        ("javascript:alert(1)", True),
        ("{here}/page.html", False),
        ("http://127.0.0.1:9/", False),
        ("HTTPS://127.0.0.1:9/", False),
    ],
)
def test_addresses_of_a_strangers_flow(url: str, asked: bool, shop: Workshop) -> None:
    (shop.folder / "link.html").symlink_to("/etc/passwd")
    here = f"file://{shop.folder}"
    flow = {**FLOW, "steps": [{"type": "navigate", "url": url.format(here=here)}, *FLOW["steps"][1:]]}  # type: ignore[misc]
    (shop.folder / "flow.json").write_text(json.dumps(flow))
    # Where nothing is asked, a browser that is not there is next.
    said = shop.run_here("web", "flow.json", "--browser", "./none")
    said.refused(2, "not-made-here" if asked else "software-missing")

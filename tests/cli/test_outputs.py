"""Whatever a command writes, it knows before its first run that it can, and what was found is kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from replay_dd.cli.command import Output
from replay_dd.cli.main import COMMANDS, CommandGroup, cli
from tests.cli.kinds import write_all
from tests.cli.tool import RACE, Workshop

pytestmark = pytest.mark.once

# How help names paths, and the options and arguments of which something is read.
PATHS = {"FILE", "DIR", "HTML", "LOG", "PATH", "RESULT", "PATCH", "SVG"}
WRITTEN = {("changes", "log")}  # what is read elsewhere
READ = {
    *(
        "log",
        "passing",
        "failing",
        "schedule",
        "browser",
        "stdin",
        "file",
        "files",
        "home",
        "source",
        "tree",
        "args_file",
    ),
}


def parameters() -> Iterator[tuple[str, click.Parameter]]:
    assert isinstance(cli, CommandGroup)
    for name in COMMANDS:
        command = cli.get_command(None, name)
        assert command is not None
        for parameter in command.params:
            yield name, parameter


OUTPUTS = [(name, parameter) for name, parameter in parameters() if isinstance(parameter.type, Output)]


def test_every_path_is_read_or_written() -> None:
    """An option that takes a path is of the type that is checked, or known to be read."""
    for command, parameter in parameters():
        metavar = parameter.metavar or ""
        takes_a_path = isinstance(parameter.type, click.Path) or metavar in PATHS
        if takes_a_path:
            read = parameter.name in READ and (command, parameter.name) not in WRITTEN
            assert isinstance(parameter.type, Output) != read, (command, parameter.name)
    found = {(command, parameter.opts[-1]) for command, parameter in OUTPUTS}
    assert found >= {
        *(("record", "--output"), ("hunt", "--output"), ("monkey", "--output"), ("schedules", "--output")),
        *(("minimize", "--output"), ("events", "--output"), ("web", "--output"), ("events", "--strip")),
        *(
            ("schedules", "--html"),
            ("schedules", "--trace"),
            ("show", "--html"),
            ("show", "--trace"),
            ("hunt", "--html"),
        ),
        *(("web", "--strip"), ("events", "--pictures"), ("show", "--pictures"), ("input", "--output")),
    }


def arguments(command: str, option: str, kinds: dict[str, Path]) -> list[str]:
    """A command line that would run something, without the option at hand."""
    log, session, flow = (str(kinds[kind].name) for kind in ("schedule log", "GUI session", "user flow"))
    program = ["--", "sh", "-c", "touch it-ran"]
    return {
        "record": program,
        "hunt": program,
        "monkey": program,
        "schedules": [log, log],
        "verify-fix": [log],
        "minimize": [log],
        "events": [session],
        "web": [flow],
        "show": [log if option in ("--html", "--trace") else session],
        "code": [flow, *program],
        "input": [flow, *program],
        "call": ["json:loads", "--args-file", flow],
        "fuzz": program,
        "bisect": ["HEAD", "HEAD", *program],
        "changes": [".", ".", *program],
        "trace": ["--", "python", "-m", "this"],
    }[command]


PLACES = ("file/x", "pipe", "zero", "n" * 300, "folder")
# Each option is tried; every place with those of one kind only, as they are checked by the same code.
UNWRITABLE = [
    (command, parameter, place)
    for command, parameter in OUTPUTS
    for place in PLACES
    if parameter.opts[-1] not in ("--html", "--trace") or place in ("file/x", "folder")
]


@pytest.mark.parametrize(
    "command, parameter, place", UNWRITABLE, ids=lambda value: getattr(value, "name", str(value)[:10])
)
def test_an_output_that_cannot_be_written(
    command: str, parameter: click.Parameter, place: str, race: Workshop, shop: Workshop
) -> None:
    kinds = write_all(race, shop)
    for name in ("file", "folder/x"):
        (shop.folder / name).parent.mkdir(exist_ok=True)
        (shop.folder / name).touch()
    os.mkfifo(shop.folder / "pipe")
    (shop.folder / "zero").symlink_to("/dev/zero")
    is_folder = parameter.metavar == "DIR"
    if place == "folder" and is_folder:
        place = "file"
    before = {path: path.lstat().st_mtime_ns for path in shop.folder.rglob("*")}
    needed = ["-o", "new.log"] if command in ("record", "monkey") and parameter.name != "output" else []
    done = shop.run_here(command, *needed, parameter.opts[-1], place, *arguments(command, parameter.opts[-1], kinds))
    assert "Traceback" not in done.stderr
    assert "it-ran" not in os.listdir(shop.folder)
    assert done.status in (2, 5, 130, 133), done.stderr  # 128 more where a status is a verdict
    assert "output-unwritable" in done.stderr or "[usage]" in done.stderr, done.stderr
    assert {path: path.lstat().st_mtime_ns for path in shop.folder.rglob("*")} == before
    assert (shop.folder / "zero").is_symlink()


def test_two_outputs_cannot_be_one_file(race: Workshop, shop: Workshop) -> None:
    write_all(race, shop)
    (shop.folder / "link").symlink_to(".")
    for other in ("x.html", "./x.html", "link/x.html"):
        said = shop.run_here("web", "flow.json", "-o", "x.html", "--strip", other).refused(2, "usage")
        assert "--strip" in said


def test_outputs_at_their_default_places_are_checked(race: Workshop, shop: Workshop) -> None:
    """Next to the log, where something else stands."""
    write_all(race, shop)
    (shop.folder / "minimal.log").mkdir()
    (shop.folder / "minimal-pass.log").mkdir()
    for command in (["minimize", "fail.log"], ["schedules", "fail.log", "fail.log"], ["events", "session.log"]):
        shop.run_here(*command).refused(5, "output-unwritable")
    (shop.folder / "minimal-flow.json").mkdir()
    (shop.folder / "flow-minimal.json").mkdir()
    (shop.folder / "pass.log").mkdir()
    shop.write("open('it-ran', 'w').close()\n")
    shop.run_here("hunt", *shop.program()).refused(5, "output-unwritable")
    assert not (shop.folder / "it-ran").exists()


# -- programs that remove the place ----------------------------------------------------------------------------------

REMOVALS = {
    "rmdir": "os.unlink('prog.py')\nos.rmdir(os.getcwd())\n",
    "rmtree": "shutil.rmtree(os.getcwd())\n",
}


def removing(shop: Workshop, how: str) -> Path:
    """A folder with a race that removes the folder at its end."""
    folder = shop.folder / "place"
    folder.mkdir()
    race = RACE.replace("if account", "import os, shutil\nREMOVE\nif account").replace("REMOVE\n", REMOVALS[how])
    (folder / "prog.py").write_text(race)
    return folder


@pytest.mark.parametrize("how", REMOVALS)
def test_a_program_that_removes_its_working_folder_keeps_its_recording(how: str, shop: Workshop) -> None:
    folder = removing(shop, how)
    inside = Workshop(folder, shop.temporary)
    done = inside.run("record", "-o", "run.log", *inside.program())
    assert done.status == 0, done.stderr
    assert "Traceback" not in done.stderr
    shown = shop.run("show", "--json", folder / "run.log")
    answer = json.loads(shown.stdout)
    assert answer["verified"] is None
    assert any("could not be replayed" in note for note in answer["notes"])


def test_also_with_a_folder_for_the_log_inside(shop: Workshop) -> None:
    folder = removing(shop, "rmtree")
    inside = Workshop(folder, shop.temporary)
    assert inside.run("record", "-o", "logs/a/run.log", *inside.program()).status == 0
    assert shop.run("show", folder / "logs" / "a" / "run.log").status == 0


def test_with_fresh_copies_it_is_examined_like_any_other(shop: Workshop) -> None:
    folder = removing(shop, "rmtree")
    inside = Workshop(folder, shop.temporary)
    # Not into the folder: how many files there are to remove is part of the run.
    hunted = inside.run("hunt", "-o", "../found", "--fresh-copy", "--jobs", "1", *inside.program())
    assert hunted.status == 0, hunted.stderr
    assert inside.run("replay", "../found/fail.log").status == 1


def test_a_hunt_without_them_says_what_is_missing(shop: Workshop) -> None:
    folder = removing(shop, "rmtree")
    inside = Workshop(folder, shop.temporary)
    said = inside.run_here("hunt", "--jobs", "1", *inside.program()).refused(2, "program-not-found")
    assert "--fresh-copy" in said

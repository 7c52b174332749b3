"""Help is whole, sorted by what things are for, and fast; shells can complete command lines."""

from __future__ import annotations

import importlib.resources
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from replay_dd.cli.main import COMMANDS, GROUPS, cli
from tests.cli.tool import TOOL, Workshop

pytestmark = pytest.mark.once

# Sections that each command's options stand in, in this order; "General" has --help.
SECTIONS = {
    "record": [
        *("Output", "Recorder", "Scheduling", "Yield points", "Program", "Display (with --gui)"),
        *("Folders (with --gui)", "General"),
    ],
    "replay": [
        "Output",
        "Schedule logs",
        "Schedule logs and GUI sessions",
        "GUI sessions",
        "GUI sessions and user flows",
        "User flows",
        "Failure (GUI sessions only)",
        "General",
    ],
    "show": [
        *("Output", "Output (schedule logs only)", "Output (GUI sessions only)", "Report (schedule logs only)"),
        "General",
    ],
    "hunt": ["Output", "Search", "Scheduling", "Yield points", "Program", "General"],
    "verify-fix": ["Search", "Output", "Program", "General"],
    "bisect": ["Output", "Search", "Scheduling", "Yield points", "Program", "General"],
    "schedules": ["Search", "Output", "Report", "Program", "General"],
    "minimize": ["Search", "Output", "Report", "Program", "General"],
    "verify-test": ["Versions", "Program", "Output", "General"],
    "events": [
        *("Search", "Search (GUI sessions only)", "Output"),
        *("Output (GUI sessions only)", "Playback", "Playback (GUI sessions only)", "Playback (user flows only)"),
        *("Folders", "Folders (GUI sessions only)", "General"),
    ],
    "monkey": ["Output", "Search", "Display", "Playback", "Folders", "General"],
    "web": ["Search", "Output", "Playback", "General"],
    "changes": ["Output", "Failure", "Program", "Search", "General"],
    "trace": ["Output", "Outcome", "Program", "Search", "General"],
    "code": ["Output", "Failure", "Search", "Program", "General"],
    "input": ["Output", "Units", "Search", "Failure", "Options and environment", "Program", "General"],
    "call": ["Program", "Output", "Failure", "Search", "General"],
    "fuzz": ["Output", "Search", "Failure", "Program", "General"],
    "doctor": ["Output", "General"],
}


def headings(text: str) -> list[str]:
    return [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]


@pytest.mark.parametrize("options", [(), ("--help",), ("-h",)])
def test_the_commands_stand_in_groups_with_whole_summaries(options: tuple[str, ...], shop: Workshop) -> None:
    done = shop.run(*options)
    assert (done.status, done.stderr) == (0, "")
    assert headings(done.stdout)[1:] == list(GROUPS), "after the options"
    width = max(map(len, COMMANDS))
    for name, entry in COMMANDS.items():
        assert f"  {name:<{width}}  {entry.summary}\n" in done.stdout
    assert "..." not in done.stdout.replace("[ARGS]...", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_options_stand_in_sections(command: str, shop: Workshop) -> None:
    done = shop.run_here(command, "--help")
    assert (done.status, done.stderr) == (0, "")
    found = headings(done.stdout)
    assert found == SECTIONS[command]
    body = done.stdout.split(f"\n{found[0]}:\n")[1]
    for section in ("\n" + body).split("\n\n"):
        options = [line for line in section.splitlines() if line.startswith("  -")]
        assert 1 <= len(options) <= 8, section


@pytest.mark.parametrize(
    ("command", "variables"),
    [*((command, {}) for command in ("", *COMMANDS)), ("hunt", {"TERM": "dumb", "NO_COLOR": "1"})],
)
def test_help_fits_a_terminal_of_80_columns(command: str, variables: dict[str, str]) -> None:
    """On a terminal: there, help could use colors and the terminal's width."""
    text = on_a_terminal([str(TOOL), *([command] if command else []), "--help"], variables)
    lines = text.splitlines()
    assert len(lines) > 5
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in text
    assert text.isascii()


def on_a_terminal(command: list[str], variables: dict[str, str]) -> str:
    """What a command writes to a terminal."""
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "TERM")}
    master, slave = pty.openpty()
    try:
        done = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env={"TERM": "xterm", **environment, **variables}
        )
        os.close(slave)
        found = b""
        while True:
            try:
                read = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not read:
                break
            found += read
        assert done.wait(timeout=60) == 0
    finally:
        os.close(master)
    return found.decode().replace("\r\n", "\n")


def test_a_table_in_a_docstring_keeps_its_lines(shop: Workshop) -> None:
    text = shop.run("hunt", "--help").stdout
    assert "  Exit status:\n    0  both found\n    1  no failure found\n    3  no run passed\n" in text


def test_defaults_are_shown_once_and_as_they_are(shop: Workshop) -> None:
    text = shop.run("hunt", "--help").stdout
    assert "[default: 300; x>0]" in text
    assert "[default: 1000; x>=1]" in text
    assert "(dynamic)" not in text
    merged = " ".join(shop.run("replay", "--help").stdout.split())
    assert "For GUI sessions: wait" in merged
    assert "For user flows: watch" in merged
    assert "[default: brackets,words,characters]" in " ".join(shop.run("input", "--help").stdout.split())


HEAVY = ("replay_dd.schedules", "replay_dd.events", "replay_dd.web", "replay_dd.report", "replay_dd.experiment")


def imported_by(arguments: list[str], prefixes: tuple[str, ...]) -> list[str]:
    """The modules of these names that a command has imported when it ends."""
    text = (
        "import sys\n"
        "from replay_dd.cli.main import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n"
        f"    heavy = sorted(name for name in sys.modules if name.startswith({prefixes!r}))\n"
        "    print(*heavy, file=sys.stderr)\n"
        "    raise\n"
    )
    done = subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr.split()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_imports_nothing_that_runs_programs(arguments: list[str]) -> None:
    assert imported_by(arguments, HEAVY) == []


def test_show_imports_nothing_that_searches_or_explains(race: Workshop) -> None:
    searches = ("replay_dd.dd", *(f"replay_dd.schedules.{room}" for room in ("hunting", "isolating", "story")))
    assert imported_by(["show", str(race.folder / "default.log")], searches) == []


# -- shell completion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("bash", "complete -o nosort -F _replay_dd_completion replay-dd"),
        ("zsh", "#compdef replay-dd"),
        ("fish", "complete --no-files --command replay-dd"),
    ],
)
def test_the_script_of_a_shell(shell: str, line: str, shop: Workshop) -> None:
    shop.variables["_REPLAY_DD_COMPLETE"] = f"{shell}_source"
    done = shop.run()
    assert done.status == 0, done.stderr
    assert line in done.stdout
    assert f"_REPLAY_DD_COMPLETE={shell}_complete" in done.stdout
    assert "Usage" not in done.stdout


@pytest.mark.parametrize("wrong", ["csh_source", "bash", "bash_help", "1"])
def test_a_shell_that_is_not_known(wrong: str, shop: Workshop) -> None:
    shop.variables["_REPLAY_DD_COMPLETE"] = wrong
    assert "bash_source, zsh_source or fish_source" in shop.run().refused(2, "usage")


def completed(shop: Workshop, line: str) -> list[str]:
    """What bash is told to offer for the last word of a line."""
    shop.variables.update(
        _REPLAY_DD_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(line.split(" ")) - 1)
    )
    done = shop.run_here()
    assert (done.status, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("replay-dd ", [f"plain,{name}" for name in COMMANDS]),
        ("replay-dd mi", ["plain,minimize"]),
        ("replay-dd --v", ["plain,--version"]),
        (
            "replay-dd record --strategy ",
            ["plain,default", "plain,random", "plain,pct", "plain,bounded", "plain,natural"],
        ),
        ("replay-dd hunt --granularity a", ["plain,access"]),
        ("replay-dd events --algorithm d", ["plain,ddmin"]),
        ("replay-dd replay --pace ", [f"plain,{pace}" for pace in ("fast", "unhurried", "recorded", "impatient")]),
        ("replay-dd monkey --player p", ["plain,pyautogui"]),
        ("replay-dd show --pi", ["plain,--pictures"]),
        *((f"replay-dd {command} ", ["file,"]) for command in ("show", "replay", "events", "web", "minimize")),
        ("replay-dd schedules found/pass.log found/f", ["file,found/f"]),
        ("replay-dd record -o ", ["file,"]),
        ("replay-dd hunt -o ", ["dir,"]),
    ],
)
def test_what_is_offered(line: str, offered: list[str], shop: Workshop) -> None:
    assert completed(shop, line) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(shop: Workshop, tmp_path: Path) -> None:
    script = (
        f'eval "$(_REPLAY_DD_COMPLETE=bash_source {TOOL})"\n'
        "COMP_WORDS=(replay-dd hu)\nCOMP_CWORD=1\n"
        "_replay_dd_completion replay-dd hu replay-dd\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": os.pathsep.join([str(TOOL.parent), os.environ["PATH"]])}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert done.stdout == "hunt\n", done.stderr


def test_completion_of_commands_imports_none_of_them(shop: Workshop) -> None:
    text = (
        "import sys\n"
        "from replay_dd.cli.main import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n"
        f"    print(sorted(name for name in sys.modules if name.startswith({HEAVY!r})), file=sys.stderr)\n"
    )
    variables = {"_REPLAY_DD_COMPLETE": "bash_complete", "COMP_WORDS": "replay-dd ", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, **variables})
    assert "plain,hunt" in done.stdout
    assert done.stderr == "[]\n"


# -- the reference ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_the_reference_has_every_option(command: str, project: Path) -> None:
    text = (project / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert f"`replay-dd {command}" in text
    there = cli.get_command(None, command)
    assert there is not None
    options = [option.opts[-1] for option in there.params if isinstance(option, click.Option)]
    assert [option for option in options if not re.search(rf"`{option}[ `]", text)] == []


@pytest.fixture(scope="session")
def reference(project: Path) -> str:
    return (project / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


def shared_options(reference: str) -> dict[str, str]:
    """The options that several commands have, with the cell that says which commands these are."""
    start = reference.index("**Options that several commands have:**")
    found = {}
    for line in reference[start : reference.index("\n## ", start)].splitlines():
        if line.startswith("| `--"):
            names, commands = re.split(r"(?<!\\)\|", line)[1:3]
            found.update(dict.fromkeys(re.findall(r"`(--[\w-]+)", names), commands.strip()))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_is_told_for_its_command(command: str, reference: str) -> None:
    shared = shared_options(reference)
    assert "--jobs" in shared
    sections = re.findall(rf"(?ms)^##+ `replay-dd {command}\b[^`]*`$(.*?)(?=^##+ |\Z)", reference)
    assert sections
    if command in ("replay", "events", "monkey"):  # what GUI sessions and user flows share stands in one place
        others = ("Playback", "`replay-dd events`", "`replay-dd web`")
        sections += [re.findall(rf"(?ms)^##+ {re.escape(one)}$(.*?)(?=^##+ )", reference)[0] for one in others]
    there = cli.get_command(None, command)
    assert there is not None
    options = {option.opts[-1] for option in there.params if isinstance(option, click.Option)}
    missing = {
        name
        for name in options
        if not re.search(rf"`{name}[ `]", "".join(sections))
        and not re.search(rf"^all\b|`{command}`", shared.get(name, ""))
    }
    assert missing == set()
    assert {name for name, commands in shared.items() if f"`{command}`" in commands} <= options


@pytest.mark.parametrize("document", ["README.md", "docs/reference/cli.md"])
def test_the_overviews_have_every_command(document: str, project: Path) -> None:
    rows = [line for line in (project / document).read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert [command for command in COMMANDS if not re.search(rf"`(replay-dd )?{command}[` ]", "\n".join(rows))] == []


@pytest.mark.parametrize("name", ["isolation", "output"])
def test_the_reference_has_every_object(name: str, project: Path) -> None:
    schema = (importlib.resources.files("replay_dd.report") / f"{name}.schema.json").read_text(encoding="utf-8")
    text = (project / "docs" / "reference" / "json.md").read_text(encoding="utf-8")
    formats = re.findall(r'"const": "(replay-dd [a-z ]+)"', schema)
    assert formats
    assert [one for one in formats if f"`{one}`" not in text] == []

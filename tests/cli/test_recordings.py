"""Each kind of recording is treated as what it is, and options of other kinds are refused."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys

import pytest

from replay_dd.cli.command import OnDemand
from replay_dd.cli.recordings import RecordingKind, Use, kind_of, kinds, kinds_for, options_for
from replay_dd.cli.run_options import RunOptions
from tests.cli.kinds import NAMES, write_all
from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

# What the options are given, where they take something.
VALUES = {
    "N": "1",
    "SECONDS": "1",
    "WxH": "640x480",
    "NAME": "none",
    "LOG": "x.log",
    "DIR": "x",
    "FILE": "x",
    "HTML": "x.html",
    "CMD": "true",
    "COMMAND": "true",
    "REGEX": "x",
    "PKG": "json",
    "MODULE": "json",
    "NAME[=VALUE]": "A=b",
    "N|NAME": "1",
}
CHOICES = {
    "--pace": "fast",
    "--player": "xtest",
    "--strategy": "pct",
    "--granularity": "line",
    "--algorithm": "ddmin",
}
# Each command with its options, by the kinds that they belong to: what `docs/reference/cli.md` promises.
SCHEDULE, SESSION, FLOW = "schedule log", "GUI session", "user flow"
PROMISED: dict[str, dict[str, set[str]]] = {
    "replay": {
        SCHEDULE: {"--time-limit", "--exact", "--accept-changes", "--env", "--json"},
        SESSION: {
            "--json",
            "--accept-changes",
            "--pace",
            "--wm",
            "--player",
            "--settle",
            "--start-limit",
            "--hang-limit",
        }
        | {"--here", "--home", "--exact-site", "--oracle"},
        FLOW: {"--settle", "--grep", "--pause", "--browser", "--server", "--here", "--json"},
    },
    "show": {
        SCHEDULE: {"--html", "--trace", "--stacks", "--json", "--markdown", "--mermaid", "--ascii"},
        SESSION: {"--json", "--pictures"},
        FLOW: {"--json"},
    },
    "events": {
        SESSION: {
            *(
                "--passing",
                "--algorithm",
                "--finer",
                "--repeats",
                "--oracle",
                "--max-tests",
                "--time-budget",
                "--jobs",
                "--output",
            ),
            *("--strip", "--html", "--pictures", "--json", "--pace", "--wm", "--player", "--settle", "--start-limit"),
            *("--hang-limit", "--accept-changes", "--here", "--home", "--exact-site"),
        },
        FLOW: {
            *("--algorithm", "--max-tests", "--time-budget", "--output", "--strip", "--json", "--settle", "--grep"),
            *("--browser", "--html", "--repeats", "--pause", "--jobs", "--server", "--here"),
        },
    },
    "record": {
        SCHEDULE: {
            *(
                "--strategy",
                "--natural",
                "--seed",
                "--granularity",
                *("--max-delay", "--process"),
                "--trace-include",
                "--trace-exclude",
                "--stdin",
            ),
            *("--fresh-copy", "--preload", "--real-clock", "--real-entropy", "--untested", "--time-limit"),
            *("--max-delay", "--process", "--json"),
        },
        SESSION: {"--display", "--screen", "--wm", "--no-text", "--for", "--here", "--home", "--json"},
    },
}
FOREIGN = [
    (command, kind, option)
    for command, promised in PROMISED.items()
    for kind in promised
    for option in sorted(set().union(*promised.values()) - promised[kind])
]


def given(command: str, name: str) -> list[str]:
    """An option as it is typed, with a value if it takes one."""
    option = next(option for option in options_for(command) if name in option.opts)
    return [name] if option.is_flag else [name, CHOICES.get(name) or VALUES[str(option.metavar)]]


def kind_named(name: str) -> RecordingKind:
    return next(kind for kind in kinds() if kind.name == name)


@pytest.mark.parametrize("command", PROMISED)
def test_each_kind_has_its_options(command: str) -> None:
    there = {kind.name: {option.opts[-1] for option in kind.uses[command].options} for kind in kinds_for(command)}
    assert there == PROMISED[command]


@pytest.mark.parametrize(("command", "kind", "option"), FOREIGN)
def test_an_option_of_another_kind_is_refused(
    command: str, kind: str, option: str, race: Workshop, shop: Workshop
) -> None:
    write_all(race, shop)
    before = sorted(path.name for path in shop.folder.iterdir())
    what = [NAMES[kind]]
    if command == "record":
        what = [*(["--gui"] if kind == SESSION else []), "-o", "new.log", "--", "python", "-c", "pass"]
    said = shop.run_here(command, *given(command, option), *what).refused(130 if command == "replay" else 2, "usage")
    assert f"`{command} {option}` is for " in said
    assert kind in said
    assert all(belonging in said for belonging in PROMISED[command][kind]), "the hint names what there is"
    assert sorted(path.name for path in shop.folder.iterdir()) == before


def test_the_hint_names_the_flag_that_is_missing(shop: Workshop) -> None:
    said = shop.run_here("record", "-o", "a.log", "--no-text", "--", "python", "-c", "pass").refused(2, "usage")
    assert "Add `--gui`" in said


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("record", "--natural", "--strategy", "pct"), "--natural"),
        (("record", "--seed", "3"), "--seed"),
        (("record", "--natural", "--seed", "3"), "--seed"),
        (("record", "--gui", "--screen", "800x600"), "--display new"),
    ],
)
def test_options_without_an_effect_are_refused(arguments: tuple[str, ...], named: str, shop: Workshop) -> None:
    said = shop.run_here(*arguments, "-o", "a.log", "--", "python", "-c", "pass").refused(2, "usage")
    assert named in said
    assert not (shop.folder / "a.log").exists()


@pytest.mark.parametrize("option", [("--finer",), ("--algorithm", "bisection")])
def test_options_that_a_passing_session_makes_void(option: tuple[str, ...], race: Workshop, shop: Workshop) -> None:
    write_all(race, shop)
    said = shop.run_here("events", "--passing", "session.log", *option, "session.log").refused(2, "usage")
    assert f"`{option[0]}` has no effect with `--passing`" in said


def test_natural_may_be_said_twice(shop: Workshop) -> None:
    done = shop.run("record", "--natural", "--strategy", "natural", "-o", "a.log", "--", "python", "-c", "pass")
    assert done.status == 0, done.stderr
    assert "strategy natural" in shop.run("show", "a.log").stdout


@pytest.mark.parametrize(
    ("command", "kind", "logs"),
    [
        ("minimize", SESSION, 1),
        ("minimize", FLOW, 1),
        ("schedules", SESSION, 2),
        ("schedules", FLOW, 2),
        ("events", SCHEDULE, 1),
        ("web", SCHEDULE, 1),
        ("web", SESSION, 1),
    ],
)
def test_a_command_for_other_kinds(command: str, kind: str, logs: int, race: Workshop, shop: Workshop) -> None:
    write_all(race, shop)
    said = shop.run_here(command, *[NAMES[kind]] * logs).refused(5, "not-a-log")
    assert f"`{command}` cannot use {NAMES[kind]}, which is a {kind}" in said
    assert re.search(r"Use `[\w-]+`.* or `[\w-]+` instead\.", said), "what to do next"
    assert f"`{command}` is for " in said


def test_one_wrong_log_of_two(race: Workshop, shop: Workshop) -> None:
    write_all(race, shop)
    for logs in (("fail.log", "flow.json"), ("flow.json", "fail.log")):
        assert "flow.json, which is a user flow" in shop.run_here("schedules", *logs).refused(5, "not-a-log")


# -- show --json -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "name"), NAMES.items())
def test_show_answers_with_json(kind: str, name: str, race: Workshop, shop: Workshop) -> None:
    write_all(race, shop)
    done = shop.run("show", "--json", name)
    assert (done.status, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    assert answer["version"] == 1
    assert (
        answer["format"]
        == {
            SCHEDULE: "replay-dd schedule summary",
            SESSION: "replay-dd session summary",
            FLOW: "replay-dd flow summary",
        }[kind]
    )


def test_the_json_of_a_schedule_log(race: Workshop) -> None:
    answer = json.loads(race.run("show", "--json", "found/fail.log").stdout)
    assert answer["command"] == ["python", "prog.py"]
    assert answer["ending"] == {
        "text": "ValueError: balance is 1 (prog.py:20 in <module>)",
        "failed": True,
        "status": 1,
        "signal": None,
        "timed_out": False,
    }
    assert list(answer["threads"]) == ["0", "0.1", "0.2"]
    assert sum(answer["threads"].values()) == answer["yield_points"]
    chosen = [switch for switch in answer["switches"] if not switch["by_default"]]
    assert chosen
    assert {(switch["file"], switch["function"]) for switch in chosen} == {("prog.py", "deposit")}
    assert answer["verified"] is True
    shown = race.run("show", "found/fail.log").stdout
    assert f"digest       {answer['digest']}\n" in shown
    assert f"schedule     {len(answer['switches'])} switches, {len(chosen)} of them" in shown
    passed = json.loads(race.run("show", "--json", "found/pass.log").stdout)
    assert (passed["ending"]["failed"], passed["ending"]["status"]) == (False, 0)


def test_the_json_of_a_deadlock(shop: Workshop) -> None:
    shop.write(
        "import threading\nlock = threading.Lock()\nthread = threading.Thread(target=lock.acquire)\n"
        "lock.acquire()\nthread.start()\nthread.join()\n"
    )
    shop.run("record", "-o", "a.log", *shop.program())
    answer = json.loads(shop.run("show", "--json", "a.log").stdout)
    waiting = {waiter["thread"]: waiter for waiter in answer["deadlock"]}
    assert waiting.keys() == {"0", "0.1"}
    assert waiting["0"]["frames"][0]["line"] == 6
    assert answer["ending"]["failed"] is True


def test_the_json_of_a_session_and_of_a_flow(race: Workshop, shop: Workshop) -> None:
    write_all(race, shop)
    session = json.loads(shop.run("show", "--json", "session.log").stdout)
    assert (session["command"], session["ending"]["signal"]) == (["./draw it", "a.png"], 11)
    flow = json.loads(shop.run("show", "--json", "flow.json").stdout)
    assert flow["title"] == "Greeting"
    assert flow["steps"][1] == {"type": "click", "text": 'click "Say hello"'}


# -- the registry ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NAMES)
def test_what_a_kind_writes_it_reads_and_recognizes(kind: str, race: Workshop, shop: Workshop) -> None:
    path, this = write_all(race, shop)[kind], kind_named(kind)
    assert kind_of(path) is this
    again = path.with_name(f"again-{path.name}")
    this.write(this.read(path), again)
    assert kind_of(again) is this
    assert this.read(again) == this.read(path)


USES = [(kind.name, command, use) for kind in kinds() for command, use in kind.uses.items()]


@pytest.mark.parametrize(("kind", "command", "use"), USES, ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_kind_registers_takes_the_options_that_belong_to_it(kind: str, command: str, use: Use) -> None:
    assert isinstance(use.run, OnDemand)
    parameters = inspect.signature(use.run.load()).parameters.values()
    taken = {parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        taken |= RunOptions.__annotations__.keys()
    assert taken - {"verify", "command"} == {option.name for option in use.options}


NEW_KIND = """
from replay_dd.cli.command import Option
from replay_dd.cli.recordings import RecordingKind, Use


def show(recording, path, *, loud):
    print(recording.upper() if loud else recording)


def record(output, command, *, verify, tempo):
    output.write_text(f"{HEADER}\\n{command[0]} at {tempo}\\n")


HEADER = '{"format": "replay-dd tune", "version": 1}'
KIND = RecordingKind(
    name="tune",
    plural="tunes",
    origin="whistled",
    format="replay-dd tune",
    parse=lambda data, path: data.decode().splitlines()[1],
    write=lambda recording, path: path.write_text(f"{HEADER}\\n{recording}\\n"),
    uses={
        "show": Use(show, (Option("--loud", section="Output", is_flag=True, help="Shout."),), runs=False),
        "record": Use(
            record,
            (Option("--tempo", section="Music", metavar="N", type=int, help="Speed."),),
            switch=Option("--tune", section="Recorder", is_flag=True, help="Record a tune."),
        ),
    },
)
"""


def test_another_kind_takes_one_module_and_nothing_else(race: Workshop, shop: Workshop) -> None:
    write_all(race, shop)
    folder = shop.folder.parent / "more"
    folder.mkdir()
    (folder / "tune.py").write_text(NEW_KIND)
    text = (
        "import sys, replay_dd.cli.recordings as recordings\n"
        f"recordings.__path__.append({str(folder)!r})\n"
        "from replay_dd.cli.main import main\n"
        "main()\n"
    )

    def run(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", text, *shlex.split(line)], capture_output=True, text=True, cwd=shop.folder
        )

    done = run("record --tune --tempo 90 -o a.tune -- whistle")
    assert done.returncode == 0, done.stderr
    assert run("show a.tune").stdout == "whistle at 90\n"
    assert run("show --loud a.tune").stdout == "WHISTLE AT 90\n"
    assert "`show --loud` is for tunes only" in run("show --loud fail.log").stderr
    assert "`show --ascii` is for schedule logs only" in run("show --ascii a.tune").stderr
    assert "`record --tempo` is for tunes only" in run("record --tempo 9 -o b.log -- python -c pass").stderr
    assert "not GUI session and tune" in run("record --tune --gui -o b.log -- whistle").stderr
    assert "`replay` cannot use a.tune, which is a tune" in run("replay a.tune").stderr
    help_text = run("record --help").stdout
    assert "Music (with --tune):\n  --tempo N" in help_text


def test_options_of_one_name_must_be_one_option(shop: Workshop) -> None:
    folder = shop.folder.parent / "more"
    folder.mkdir()
    (folder / "tune.py").write_text(
        NEW_KIND.replace(
            '"--loud", section="Output", is_flag=True', '"--json", "as_json", section="Output", metavar="X"'
        )
    )
    text = f"import replay_dd.cli.recordings as r; r.__path__.append({str(folder)!r}); r.options_for('show')"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert "tunes have another option --json for `show`" in done.stderr

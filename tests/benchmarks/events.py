"""GUI sessions: playing actions, isolating the needed ones, several displays at once."""

from __future__ import annotations

import importlib.util
import random
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from replay_dd.events.displays import DisplaySupply
from replay_dd.events.isolate import Plan, isolate_events
from replay_dd.events.model import Action, GuiProgram, Rectangle, Screen, Session, Window
from replay_dd.events.monkey import next_action
from replay_dd.events.run import Conditions, Run
from replay_dd.events.runner import SessionRunner
from replay_dd.events.x11.display import choose_window_manager
from replay_dd.events.x11.players import player_named
from replay_dd.experiment.process import no_leftovers
from replay_dd.experiment.testing import several
from tests.benchmarks.harness import Bench, Section, Table, median, with_unit
from tests.x11.acts import click, key

_PROGRAM = Path(__file__).resolve().parent.parent / "x11" / "window_program.py"
_ACTIONS = 95  # user actions of the session of the ISSTA 2000 paper
_SCREEN = Screen(1024, 768)
_AREA = Rectangle(392, 196, 240, 390)  # where xcalc stands, and where the program of the tests stands too

_PROGRAMS = {"xcalc (x11-apps)": ("xcalc", 4), "xsok": ("/usr/games/xsok", 2), "xedit (x11-apps)": ("xedit", 1)}
"""Programs of Debian that nobody here wrote, and the seed of a session that each of them survives."""

_ABOUT_PLAYING = """\
A random session of 95 actions, replayed in programs from Debian on a fresh private display, with the idle rule. *Start*
is the time until the program is idle; *each action* is the time from there until it is idle again; *run* is the whole
time, including the end of the program and of the display. A display with its window manager is ready in
{ready}; it is made while the run before goes on."""

_ABOUT_ISOLATION = """\
A session of 95 actions in which a program of the tests crashes after three of them, whatever comes between: the
structure of the session in the ISSTA 2000 paper, which needed 39 to 82 tests. *Tests* are the runs of the search;
*seconds* is the whole time, with the two runs that measure the failure rate and the three that prove the answer."""

_ABOUT_DISPLAYS = """\
The xcalc session of the first table, eight runs per display, each on a fresh display."""


def run(bench: Bench) -> Iterable[Section]:
    missing = [name for name in ("Xvfb", "xcalc") if shutil.which(name) is None]
    if missing:
        yield Section("GUI sessions", [f"Not measured: {', '.join(missing)} not installed."])
        return
    with no_leftovers():
        yield Section("Playing a session", list(_playing(bench)))
        yield Section("Isolating actions", [_ABOUT_ISOLATION, _isolating(bench)])
        yield Section("Several displays", [_ABOUT_DISPLAYS, _displays(bench)])


def _session(command: Sequence[str], actions: Sequence[Action]) -> Session:
    program = GuiProgram(tuple(command), str(_PROGRAM.parent))
    return Session(program, _SCREEN, choose_window_manager(None), "monkey", actions=tuple(actions))


def _random_actions(count: int, seed: int) -> list[Action]:
    chance = random.Random(seed)
    window = Window(0, "", "", "", _AREA, _AREA)
    return [replace(next_action(chance, [window], _SCREEN), window=None) for _ in range(count)]


def _playing(bench: Bench) -> Iterable[str | Table]:
    rows = []
    readies = []
    has_second = importlib.util.find_spec("pyautogui") is not None
    players = ["xtest", *(["pyautogui"] if has_second else [])]
    for name, (command, seed) in _PROGRAMS.items():
        if shutil.which(command) is None:
            rows.append([name, "not installed", *["-"] * 4])
            continue
        session = _session([command], _random_actions(_ACTIONS, seed))
        for player in players:
            bench.tell(f"events: playing to {name}, {player}")
            runs = [_played(session, Conditions(player=player_named(player))) for _ in range(bench.repeats)]
            readies += [ready for ready, _, _ in runs]
            rows.append(
                [
                    name,
                    player,
                    runs[0][1].ending.actions,
                    with_unit(median(run.start_s for _, run, _ in runs)),
                    with_unit(median(run.play_s / max(run.ending.actions, 1) for _, run, _ in runs)),
                    with_unit(median(whole for _, _, whole in runs)),
                ]
            )
    yield _ABOUT_PLAYING.format(ready=with_unit(median(readies)))
    if not has_second:
        yield "The second player is not measured: PyAutoGUI is not installed."
    yield Table(["program", "player", "actions played", "start", "each action", "run"], rows)


def _played(session: Session, conditions: Conditions) -> tuple[float, Run, float]:
    """Seconds until a display is ready, the run, and seconds of all of it."""
    began = time.monotonic()
    with DisplaySupply(session.screen, session.window_manager) as supply:
        supply.give_back(supply.take())
        ready = time.monotonic() - began
        runner = SessionRunner(session, conditions, supply)
        began = time.monotonic()
        run = runner.run(session.actions)
        return ready, run, time.monotonic() - began


def _isolating(bench: Bench) -> Table:
    rest = [
        item for item in _random_actions(600, 2) if item.kind.value in ("motion", "click", "wheel") and item.button != 1
    ]
    places = {20: key("a"), 55: click(512, 384), 90: key("z")}
    actions = [places[number] if number in places else rest[number] for number in range(_ACTIONS)]
    command = [sys.executable, str(_PROGRAM), "in order=key:a+button:1+key:z"]
    session = _session(command, actions)
    rows = []
    for algorithm, jobs in (("bisection", 1), ("bisection", 2), ("ddmin", 1), ("ddmin", 2)):
        bench.tell(f"events: isolating, {algorithm}, {jobs} at once")
        found = isolate_events(session, Plan(jobs=jobs, algorithm=algorithm))
        rows.append(
            [
                algorithm,
                jobs,
                _ACTIONS,
                len(found.minimal.actions),
                found.isolation.tests,
                with_unit(found.isolation.seconds),
            ]
        )
    return Table(["algorithm", "displays", "actions", "left", "tests", "seconds"], rows)


def _displays(bench: Bench) -> Table:
    session = _session(["xcalc"], _random_actions(_ACTIONS, 4))
    rows = []
    one = 0.0
    for jobs in (1, 2):
        bench.tell(f"events: {jobs} displays at once")
        with DisplaySupply(session.screen, session.window_manager, jobs) as supply:
            runner = SessionRunner(session, Conditions(), supply)
            runner.run(session.actions)
            began = time.monotonic()
            several(partial(runner.run, session.actions), 8 * jobs, jobs)
            minute = 60 * 8 * jobs / (time.monotonic() - began)
        one = one or minute
        rows.append([jobs, f"{minute:.0f}", f"{minute / one:.2f}x"])
    return Table(["displays", "runs a minute", "of one display"], rows)

"""Sessions with windows: playing actions, isolating the needed ones, several displays at once."""

from __future__ import annotations

import importlib.util
import random
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from replay_dd.events.displays import DisplaySupply
from replay_dd.events.isolate import Plan, isolate_events
from replay_dd.events.model import Action, GuiProgram, Rectangle, Screen, Session, Window
from replay_dd.events.monkey import next_action
from replay_dd.events.trial import Conditions
from replay_dd.events.trials import Trials
from replay_dd.events.x11.display import choose_window_manager
from replay_dd.events.x11.players import player_named
from replay_dd.experiment.process import no_leftovers
from tests.benchmarks.harness import Bench, Section, Table, median, with_unit
from tests.x11.acts import click, key

_PROGRAM = Path(__file__).resolve().parent.parent / "x11" / "window_program.py"
_ACTIONS = 95  # user actions of the session of the ISSTA 2000 paper
_SCREEN = Screen(1024, 768)
_AREA = Rectangle(392, 196, 240, 390)  # where xcalc stands, and where the program of the tests stands too

_ABOUT_PLAYING = """\
A random session of 95 actions, played to xcalc (Debian package x11-apps) on a fresh private display, with the idle
rule. *Display* is the time until Xvfb and the window manager are ready, *start* that of the program until it is idle,
*run* all told, with the display closed again."""

_ABOUT_ISOLATION = """\
A session of 95 actions in which a program of the tests crashes after three of them, whatever comes between: the
structure of the session in the ISSTA 2000 paper, which needed 39 to 82 tests. *Tests* are the runs of the search;
*seconds* has all, also the two runs that measure how often the session fails, and the three that prove the answer."""

_ABOUT_DISPLAYS = """\
The session of the first table, as often as there are displays times eight, each run on a fresh display."""


def run(bench: Bench) -> Iterable[Section]:
    missing = [name for name in ("Xvfb", "xcalc") if shutil.which(name) is None]
    if missing:
        yield Section("Sessions with windows", [f"Not measured: {', '.join(missing)} not installed."])
        return
    with no_leftovers():
        yield Section("Playing a session", [_ABOUT_PLAYING, _playing(bench)])
        yield Section("Isolating actions", [_ABOUT_ISOLATION, _isolating(bench)])
        yield Section("Several displays", [_ABOUT_DISPLAYS, _displays(bench)])


def _session(command: Sequence[str], actions: Sequence[Action]) -> Session:
    program = GuiProgram(tuple(command), str(_PROGRAM.parent))
    return Session(program, _SCREEN, choose_window_manager(None), "monkey", actions=tuple(actions))


def _random_actions(count: int, seed: int) -> list[Action]:
    chance = random.Random(seed)
    window = Window(0, "", "", "", _AREA, _AREA)
    return [replace(next_action(chance, [window], _SCREEN), window=None) for _ in range(count)]


def _playing(bench: Bench) -> Table:
    session = _session(["xcalc"], _random_actions(_ACTIONS, 1))
    rows = []
    players = ["xtest", *(["pyautogui"] if importlib.util.find_spec("pyautogui") else [])]
    for player in players:
        bench.tell(f"events: playing, {player}")
        conditions = Conditions(player=player_named(player))
        runs = []
        for _ in range(bench.repeats):
            began = time.monotonic()
            with DisplaySupply(session.screen, session.window_manager) as supply:
                display = supply.take()
                ready = time.monotonic() - began
                supply.give_back(display)
                trials = Trials(session, conditions, supply)
                began = time.monotonic()
                done = trials.run(session.actions)
                runs.append((ready, done.start_s, done.play_s, time.monotonic() - began, done.ending.actions))
        action = median(play / max(count, 1) for _, _, play, _, count in runs)
        rows.append(
            [
                player,
                runs[0][4],
                *(with_unit(median(item[place] for item in runs)) for place in (0, 1)),
                with_unit(action),
                with_unit(median(item[3] for item in runs)),
            ]
        )
    return Table(["player", "actions played", "display", "start", "each action", "run"], rows)


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
        rows.append([algorithm, jobs, _ACTIONS, len(found.minimal.actions), found.tests, with_unit(found.seconds)])
    return Table(["algorithm", "displays", "actions", "left", "tests", "seconds"], rows)


def _displays(bench: Bench) -> Table:
    session = _session(["xcalc"], _random_actions(_ACTIONS, 1))
    rows = []
    one = 0.0
    for jobs in (1, 2):
        bench.tell(f"events: {jobs} displays at once")
        with DisplaySupply(session.screen, session.window_manager, jobs) as supply:
            trials = Trials(session, Conditions(), supply)
            trials.run(session.actions)
            began = time.monotonic()
            trials.several(session.actions, 8 * jobs, jobs)
            minute = 60 * 8 * jobs / (time.monotonic() - began)
        one = one or minute
        rows.append([jobs, f"{minute:.0f}", f"{minute / one:.2f}x"])
    return Table(["displays", "runs a minute", "of one display"], rows)

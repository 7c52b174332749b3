"""The program of `tests/x11/window_program.py`, simulated: what isolation makes of runs needs no display.

It knows the events `key`, `key:a`, `button` and `button:1`, wherever the pointer is, and these deeds: `in order=...`,
`exit3`, `deadlock`, `sometimes` (in each run but the second of three) and `seven times`. With `twice=key:b` it crashes
only if that came an even number of times. With `timer=3` it crashes three actions, or as much time, later. With `slow`
it is busy for two seconds, and with `slow but` for ever if key `a` was pressed before.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from replay_dd.events.failure_signature import of_exit, of_hang, of_signal
from replay_dd.events.model import Action, Ending, EndingKind, GuiProgram, InputKind, Pace, Screen, Session
from replay_dd.events.run import Run
from replay_dd.events.runner import SessionRunner

SCREEN = Screen(800, 600)
ACTION_S = 0.125  # how long each action takes
SLOW_S = 2.0
CRASH = of_signal(11, "program+0x10", ["program+0x10"], "")


def session_of(behaviour: str, **fields: Any) -> Session:
    """A session with the simulated program."""
    return Session(GuiProgram(("program", behaviour), "/"), SCREEN, window_manager="", **fields)


class SimulatedProgram:
    """Plays actions to the program that a session names, and notes at which paces.

    Attributes:
        deaf_at: the paces at which only the first action comes to something.
        paces: the pace of each run so far.
        limits_s: how long it might be busy in each run so far.
    """

    def __init__(self) -> None:
        self.deaf_at: tuple[Pace, ...] = ()
        self.paces: list[Pace] = []
        self.limits_s: list[float] = []
        self._crashes = 0

    def run(self, runner: SessionRunner, actions: Sequence[Action], **_: Any) -> Run:
        """What :meth:`SessionRunner.run` would return."""
        pace = runner.conditions.pace
        self.paces.append(pace)
        limit_s = runner.conditions.hang_limit_s
        self.limits_s.append(limit_s)
        pressed: set[str] = set()
        behaviour = runner.session.program.command[1]
        deeds = dict(item.split("=", 1) for item in behaviour.split(",") if item)
        awaited = [event for event in deeds.pop("in order", "").split("+") if event]
        twice, times = deeds.pop("twice", ""), 0
        timer, due = int(deeds.pop("timer", "0")), math.inf
        ending, played, hung = None, 0, False
        for action in actions[:1] if pace in self.deaf_at else actions:
            played += 1
            for event in _events_of(action):
                times += event == twice
                if awaited and event == awaited[0]:
                    del awaited[0]
                    due = due if awaited or times % 2 else played + timer
                deed = deeds.get(event, "")
                pressed.add(event)
                ending = ending or (CRASH if played >= due else self._do(deed, limit_s))
                if deed.startswith("slow") and (limit_s < SLOW_S or (deed == "slow but" and "key:a" in pressed)):
                    ending, hung = of_hang(limit_s, ""), True
            if hung or (ending is not None and ending.kind is not EndingKind.HANG):
                break
        if ending is None and runner.conditions.linger_s > (due - played) * ACTION_S:
            ending = CRASH
        if ending is None:
            ending = Ending(EndingKind.OPEN, "still running at the end")
        # That a program waits for ever shows at the end only.
        played = len(actions) if ending.kind is EndingKind.HANG and not hung else played
        return Run(replace(ending, actions=played), (), 0.0, played * ACTION_S)

    def _do(self, deed: str, limit_s: float) -> Ending | None:
        if deed == "deadlock":
            return of_hang(limit_s, "")
        if deed in ("sometimes", "seven times"):
            self._crashes += 1
            crashes = self._crashes <= 7 if deed == "seven times" else self._crashes % 3 != 2
            return CRASH if crashes else None
        return of_exit(int(deed.removeprefix("exit")), "") if deed.startswith("exit") else None


def _events_of(action: Action) -> Iterator[str]:
    kinds: dict[InputKind, Callable[[Any], str]] = {
        InputKind.KEY_PRESS: lambda item: f"key:{item.key}",
        InputKind.BUTTON_PRESS: lambda item: f"button:{item.button}",
    }
    told = [kinds[item.kind](item) for item in action.inputs if item.kind in kinds]
    return itertools.chain.from_iterable((event, event.split(":")[0]) for event in told)

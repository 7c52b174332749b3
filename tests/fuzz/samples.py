"""Sound logs of the three formats, small and with some of everything: what mutations begin with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay_dd.events.log import write_session
from replay_dd.schedules.log import write_log
from replay_dd.schedules.model import Ending, Log, Switch, Trigger, Waiter
from tests.events.test_log import SESSION
from tests.schedules.logs import FAILED, PLACE, log_of

PASSING = log_of(
    [
        Switch("0", 3, "0.1", False, False, PLACE, 3, 99, 1),
        Switch("0.1", 60, "0.2", True, True, None, 63, 98, ended=True),
        Switch("0.2", 7, "0", True, True, replace(PLACE, line=8, text="a = b"), 70, 97),
    ]
)
_ENDING: Ending = replace(
    FAILED,
    deadlock=(Waiter("0.1", "waits for a lock", FAILED.exceptions[0].frames),),
    skipped=(Trigger("0.2", 5, "0"),),
    notes=("the program forked",),
    seconds=0.25,
)
FAILING: Log = replace(
    PASSING,
    switches=(replace(PASSING.switches[0], time=9), *PASSING.switches[1:]),
    ending=_ENDING,
    arrivals=(
        ("arrival", "0.1", 1, "0", 5, 17, "from 7"),
        ("arrival", "0.1", 2, "", 0, None),
        ("arrival", "0.2", 1, "0.1", 6, ((5, 1), (7, 4))),
        ("arrival", "0.2", 2, "0.1", 6, ("away", 12, 0, 230)),
        ("due", "0", 4, "0.2"),
    ),
)
_SELECTORS: Any = {"selectors": [["aria/Save"], "#save", ["#host", "button"]]}
FLOW: Any = {
    "title": "Editor",
    "timeout": 4000,
    "steps": [
        {"type": "navigate", "url": "http://127.0.0.1/", "assertedEvents": [{"type": "navigation"}]},
        {"type": "click", **_SELECTORS, "offsetX": 3, "offsetY": 4.5, "button": "secondary", "frame": [0, 1]},
        {"type": "change", **_SELECTORS, "value": "two words", "timeout": 500},
        {"type": "keyDown", "key": "Enter"},
        {"type": "scroll", "x": 0, "y": 30},
        {"type": "waitForElement", **_SELECTORS, "operator": "==", "count": 2, "visible": True},
        {"type": "customStep", "name": "own", "parameters": {"deep": [1, {"a": None}]}},
    ],
}


def schedule_log(path: Path) -> bytes:
    """The bytes of a schedule log, which is also written to a path."""
    write_log(FAILING, path)
    return path.read_bytes()


def event_log(path: Path) -> bytes:
    """The bytes of an event log, which is also written to a path."""
    write_session(SESSION, path)
    return path.read_bytes()


def flow(path: Path) -> bytes:
    """The bytes of a user flow, which is also written to a path."""
    path.write_text(json.dumps(FLOW), encoding="utf-8")
    return path.read_bytes()

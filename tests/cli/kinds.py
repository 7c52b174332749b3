"""One small recording of each kind."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from replay_dd.events.log import write_session
from replay_dd.events.model import Action, ActionKind, Ending, EndingKind, GuiProgram, Screen, Session
from tests.cli.tool import Workshop

SESSION = Session(
    GuiProgram(("./draw it", "a.png"), "."),
    Screen(640, 480),
    "none",
    actions=(Action(ActionKind.TEXT, (), text="hello"),),
    ending=Ending(EndingKind.SIGNAL, "killed by SIGSEGV", "signal SIGSEGV", signal=11),
)
FLOW = {
    "title": "Greeting",
    "steps": [
        {"type": "navigate", "url": "http://127.0.0.1:9/"},
        {"type": "click", "selectors": [["aria/Say hello"]], "offsetX": 1, "offsetY": 1},
    ],
}
NAMES = {"schedule log": "fail.log", "GUI session": "session.log", "user flow": "flow.json"}


def write_all(race: Workshop, shop: Workshop) -> dict[str, Path]:
    """Write them to the working directory of ``shop``, and answer them by the names of their kinds."""
    paths = {kind: shop.folder / name for kind, name in NAMES.items()}
    shutil.copy(race.folder / "found" / "fail.log", paths["schedule log"])
    write_session(SESSION, paths["GUI session"])
    paths["user flow"].write_text(json.dumps(FLOW), encoding="utf-8")
    return paths

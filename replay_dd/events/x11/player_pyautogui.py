"""PyAutoGUI as a player: for what has no XTEST, and to see that a result does not depend on the player.

PyAutoGUI reads DISPLAY once, when it is imported, and has settings for a whole process. So it lives in a process of its
own for each display (:mod:`replay_dd.events.x11.pyautogui_process`), which does what it reads from a pipe.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from replay_dd.errors.machine import SoftwareMissingError
from replay_dd.errors.user import NoSuchKeyError
from replay_dd.events.model import Input
from replay_dd.events.x11.connection import load_xlib
from replay_dd.experiment.process import LIVE, kill_group
from replay_dd.json_codec import to_plain

_NO_KEY = "no key "
_INSTALL = "Install it (`pip install 'replay-dd[pyautogui]'`), and see `replay-dd doctor`."


def check_pyautogui() -> None:
    """Check that PyAutoGUI can be used.

    Raises:
        SoftwareMissingError: it is not installed.
        PackageShadowedError: installing it has put an old package in the place of python-xlib.
    """
    if importlib.util.find_spec("pyautogui") is None:
        raise SoftwareMissingError("PyAutoGUI is not installed.", _INSTALL)
    load_xlib()


class PyAutoGuiPlayer:
    """Plays through PyAutoGUI.

    Args:
        display: name of the display.
        environment: of the process.

    Raises:
        SoftwareMissingError: PyAutoGUI does not start.
    """

    def __init__(self, display: str, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("pyautogui_process.py"))],
            env={**environment, "DISPLAY": display, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
        LIVE.add(self._process)
        answer = self._answer()
        if answer != "ready":
            self.close()
            raise SoftwareMissingError(f"PyAutoGUI does not start: {answer or 'it ended at once'}.", _INSTALL)

    def play(self, item: Input) -> None:
        """Do one input."""
        self._say(to_plain(item))

    def flush(self) -> None:
        """Wait until all is done.

        Raises:
            NoSuchKeyError: PyAutoGUI does not know a key.
        """
        self._say({"kind": "flush"})
        if (answer := self._answer()).startswith(_NO_KEY):
            raise NoSuchKeyError(f"PyAutoGUI has no key `{answer.removeprefix(_NO_KEY)}`.")

    def close(self) -> None:
        """End the process."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        kill_group(self._process)
        self._process.wait()
        LIVE.remove(self._process)

    def _say(self, what: object) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # with its display it ends, too; the display is looked at elsewhere
            self._process.stdin.write(json.dumps(what).encode() + b"\n")
            self._process.stdin.flush()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().decode(errors="replace").strip()

"""The user's oracle: a command that checks the screen, or the program's output."""

from __future__ import annotations

import os
import subprocess

from replay_dd.events.model import Ending, EndingKind
from replay_dd.events.x11.display import PrivateDisplay
from replay_dd.events.x11.pictures import screenshot
from replay_dd.experiment.guard_process import GROUP
from replay_dd.experiment.process import LIVE, kill_group
from replay_dd.experiment.working_copy import WorkingCopy

CANNOT_TELL = "oracle cannot tell"
"""The signature of an ending that the oracle could not judge."""
_CANNOT_TELL_STATUS = 125
_LIMIT_S = 60.0


def ask_oracle(command: str, display: PrivateDisplay, ending: Ending, copy: WorkingCopy | None = None) -> Ending:
    """Let the oracle decide about a run that did not fail otherwise.

    Args:
        command: a shell command.
        display: where the program runs.
        ending: how the run ended so far.
        copy: the working folder of the program, and the copy in which it ran.

    Returns:
        The ending, changed according to the exit status of the command.
    """
    folder = display.folder.path
    picture, written = folder / "screen.png", folder / "written"
    if display.alive:
        screenshot(display.connection, picture)
    written.write_text(ending.output, encoding="utf-8", errors="surrogateescape")
    # Where we are in the program's folder, the command looks at what the program did to its copy.
    directory = os.getcwd() if copy is None else copy.path(os.getcwd())
    variables = {
        "REPLAY_DD_FOLDER": os.getcwd() if copy is None else str(copy.copy),
        "REPLAY_DD_SCREENSHOT": str(picture),
        "REPLAY_DD_OUTPUT": str(written),
    }
    process = subprocess.Popen(
        command,
        shell=True,
        cwd=directory if os.path.isdir(directory) else None,
        env={**display.environment, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    LIVE.add(process)
    display.folder.note(GROUP, process.pid)
    try:
        status = process.wait(_LIMIT_S)
    except subprocess.TimeoutExpired:
        status = _CANNOT_TELL_STATUS
    finally:
        kill_group(process)
        process.wait()
        LIVE.remove(process)
    if status == 0:
        return ending
    if status == _CANNOT_TELL_STATUS:
        return Ending(EndingKind.ORACLE, "the oracle cannot tell", CANNOT_TELL, output=ending.output)
    return Ending(EndingKind.ORACLE, f"the oracle says no (status {status})", "oracle", output=ending.output)

"""Leaves out the variables that are passed on late, where the command is an interpreter itself.

Otherwise the interpreter finds them, and starts once more without them (``runtime/site/sitecustomize.py``): a third of
the processor time of a short run, and most shells have some, from ``DISPLAY`` to the tokens of a CI system.

Rules of this module:

* Only what becomes Python by itself is started without them. A script of a shell may look at them on its way there.
"""

from __future__ import annotations

import marshal
import os
from pathlib import Path

from replay_dd.experiment.interpreters import is_interpreter
from replay_dd.experiment.process import find_program
from replay_dd.schedules.model import Program
from replay_dd.schedules.running.environment import LATE
from replay_dd.schedules.runtime.channel import MARSHAL_VERSION

_FILE = "late"  # as in runtime/site/sitecustomize.py
_ELF, _SCRIPT = b"\x7fELF", b"#!"
_LONGEST_FIRST_LINE = 256  # bytes: the kernel reads no more (binfmt_script)


def leave_out_late(variables: dict[str, str], program: Program, folder: Path) -> None:
    """Move the variables that are passed on late into a file, if the interpreter is to start without them.

    Args:
        variables: the environment of the run; changed in place.
        program: what runs.
        folder: of the run's request.
    """
    names = variables.get(LATE, "").split("=")
    late = {name: variables[name] for name in names if name in variables}
    # How an interpreter decodes others depends on its settings.
    if not late or not all(text.isascii() for pair in late.items() for text in pair):
        return
    name = program.command[0]
    found = name if os.sep in name else find_program(name, variables.get("PATH"))
    if found is None or not _is_interpreter(Path(program.directory, found)):
        return
    (folder / _FILE).write_bytes(marshal.dumps(late, MARSHAL_VERSION))
    for name in (*late, LATE):
        del variables[name]


def _is_interpreter(path: Path, *, of_script: bool = False) -> bool:
    """Whether this is a Python, or a script whose first line names one."""
    try:
        with path.open("rb") as file:
            head = file.read(_LONGEST_FIRST_LINE)
    except OSError:
        return False
    if head.startswith(_ELF):
        return is_interpreter(path.name)
    if of_script or not head.startswith(_SCRIPT):
        return False
    words = os.fsdecode(head[len(_SCRIPT) :].partition(b"\n")[0]).split()
    return bool(words) and _is_interpreter(Path(words[0]), of_script=True)

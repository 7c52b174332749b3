"""What the interpreters of Python are called."""

from __future__ import annotations

import os
import re

_NAME = re.compile(r"python(\d+(\.\d+)?)?t?")  # with a `t`, of a build without the GIL


def is_interpreter(program: str) -> bool:
    """Whether a program is called like an interpreter of Python.

    Args:
        program: its name, or its path.
    """
    return _NAME.fullmatch(os.path.basename(program)) is not None

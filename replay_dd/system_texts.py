"""Texts in logs that the system is given: names of files and variables, and arguments of programs.

They are what the system takes: no NUL, and nothing but text and the surrogates that stand for bytes
(:func:`os.fsencode`).
"""

from __future__ import annotations

import os
from typing import Annotated

from replay_dd.schema import Rule

_LONGEST_NAME = 65_536


def _is_name(name: str) -> bool:
    try:
        return "\0" not in name and len(os.fsencode(name)) <= _LONGEST_NAME
    except UnicodeEncodeError:
        return False


def _is_text_for_a_program(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


Name = Annotated[str, Rule("a name of a file", _is_name)]
Argument = Annotated[str, Rule("a text that a program can be given", _is_text_for_a_program)]
VariableName = Annotated[
    str, Rule("a name of a variable", lambda name: name != "" and "=" not in name and _is_text_for_a_program(name))
]

"""A container that changes between the end of an ``__iter__`` and the first step of what asked for the iterator."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import describe_program

PROGRAM = """\
import threading


class Attributes:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = {"a": 1, "b": 2}

    def __iter__(self):
        with self.lock:
            return iter(self.values)

    def put(self, key, value):
        with self.lock:
            self.values[key] = value


attributes = Attributes()
thread = threading.Thread(target=attributes.put, args=("c", 3))
thread.start()
LOOK
thread.join()
"""


@pytest.mark.parametrize("look", ["list(attributes)", "'z' in attributes"])
def test_what_goes_through_an_iterator_without_instructions_is_interrupted_before(look: str, tmp_path: Path) -> None:
    (tmp_path / "attributes.py").write_text(PROGRAM.replace("LOOK", look))
    program = describe_program((sys.executable, "attributes.py"), directory=tmp_path)
    found = hunt(program, Settings(), HuntOptions(runs=20))
    assert found.failing is not None
    (error,) = found.failing.ending.exceptions
    assert error.text == "dictionary changed size during iteration"

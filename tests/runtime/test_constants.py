"""Numbers that Python and C have in common are the same in both."""

from __future__ import annotations

import re
from pathlib import Path

from replay_dd.schedules.runtime import accelerator, constants

HEADER = Path(accelerator.__file__).with_name("constants.h")
DEFINITION = re.compile(r"^#define (\w+) (-?\w+?)(?:ULL)?$", re.MULTILINE)


def test_python_and_c_have_the_same_constants() -> None:
    in_c = {name: int(value, 0) for name, value in DEFINITION.findall(HEADER.read_text(encoding="utf-8"))}
    in_python = {name: value for name, value in vars(constants).items() if name.isupper()}
    assert len(in_c) > 5
    assert in_c == in_python

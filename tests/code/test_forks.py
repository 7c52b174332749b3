"""A tool in Python is forked where it first touches the program; the answer is that of fresh runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from replay_dd.code.reduce import reduce_code
from replay_dd.code.target import CodeTarget
from replay_dd.experiment.process import Finished

pytestmark = pytest.mark.once

PROGRAM = b"import os\nfor third in os:\n    yield [third, 1]\n"
TOOL = "import sys\nwords = open(sys.argv[1]).read().split()\nassert not {'for', 'yield'} <= set(words)\n"


@dataclass
class Tool(CodeTarget):
    """A tool that counts how often it is started."""

    started: int = 0

    def run(self, *arguments: object, **options: object) -> Finished:
        """Run it afresh."""
        self.started += 1
        return super().run(*arguments, **options)  # type: ignore[arg-type]


def test_forked_and_fresh_tools_give_one_answer(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(TOOL)
    answers, started = [], []
    for may_fork in (True, False):
        tool = Tool((sys.executable, str(tmp_path / "tool.py"), "{}"), "program.py", tmp_path, time_limit_s=60)
        found = reduce_code(PROGRAM, tool, may_fork=may_fork)
        answers.append((found.failing.files[0].content, found.isolation.steps, found.isolation.verified, found.notes))
        started.append(tool.started)
    assert answers[0] == answers[1]
    assert answers[0][0] == b"for a in 0:\n    yield\n"
    assert started[0] < started[1]


def test_the_message_tells_failures_of_the_program_apart() -> None:
    program = b"class Cart:\n    def add(self):\n        return self.totals\nCart().add()\n"
    found = reduce_code(program, (sys.executable, "{}"))
    assert "object has no attribute" in found.isolation.failing.run.words
    assert "NoneType" not in found.isolation.failing.run.words, "that is another failure, though as short"
    assert b"None" not in found.failing.files[0].content

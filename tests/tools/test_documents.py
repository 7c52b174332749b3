"""What the documents' commands print, apart from what only a busy machine prints."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tools.documents import Step, do

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    "line, stays",
    [
        ("replay-dd: test 67: UNRESOLVED, 10 characters left; 6.7 a second, at least 10 more (2 s)", False),
        ("replay-dd: run 380 of 1000, 0 failed, 37.9 a second, up to 620 more (16 s); bounded: exit status 0", False),
        ("replay-dd: simplifying the schedules, run 67", False),
        ("replay-dd: trying all schedules with it, run 143", False),
        ("replay-dd: proving the answer", False),
        ("replay-dd: recorded in run.log, yield points noticed by settrace", True),
        ("replay-dd: error: There is no script `run 7`.", True),
        ("tests        70 run, 3.6 s", True),
    ],
)
def test_progress_is_not_compared(line: str, stays: bool, tmp_path: Path) -> None:
    done = do(
        Step(f"echo {shlex.quote(line)} >&2", status=0, file=None, shown=(), compared=True, place=(0, 0)), tmp_path
    )
    assert done is not None
    assert done.lines == ((line,) if stays else ())

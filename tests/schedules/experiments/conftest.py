"""The sources of the program whose accesses are to be locked."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.experiments.sources import Sources
from tests.schedules.experiments.fakes import program_with
from tests.schedules.experiments.thing_program import TEXT


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(program_with(tmp_path, prog_py=TEXT))

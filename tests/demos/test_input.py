"""The demo of reduced inputs: its files break the programs as it says, and what is left is the cause."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.tool import TOOL

pytestmark = pytest.mark.once


def test_the_whole_demo(project: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", project / "demos" / "run_demo_input.sh", tmp_path / "results"],
        capture_output=True,
        text=True,
        timeout=280,
        env={"PATH": f"{TOOL.parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "results" / "minimal.yaml").read_text() == "2023-02-29"
    assert "line 153, column 24: '8' becomes '9'" in done.stdout
    if shutil.which("g++"):
        assert re.search(r"\[[A-Z]\]=1", (tmp_path / "results" / "minimal.c").read_text())


def test_the_date_alone_breaks_the_library() -> None:
    for date, status in (("2023-02-28", 0), ("2023-02-29", 1)):
        load = f"import yaml; yaml.safe_load({date!r})"
        assert subprocess.run([sys.executable, "-c", load], capture_output=True).returncode == status

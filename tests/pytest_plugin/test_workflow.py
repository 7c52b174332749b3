"""The workflow that the documentation gives for GitHub, with its commands run here."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pytest_plugin.test_hunted_suites import RACY

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def commands() -> list[str]:
    """The commands of the workflow's steps."""
    return re.findall(r"^ +(?:- )?run: (.*)$", (HOW_TO / "races.yml").read_text(), re.MULTILINE)


@pytest.mark.once
def test_the_page_shows_the_workflow_as_it_is() -> None:
    assert f"```yaml\n{(HOW_TO / 'races.yml').read_text()}```" in (HOW_TO / "hunt-a-suite.md").read_text()


@pytest.mark.once
def test_the_workflow_finds_a_race_and_keeps_what_it_uploads(tmp_path: Path) -> None:
    install, nightly, of_a_change = commands()
    assert install.startswith("pip install ")  # all is installed here
    (tmp_path / "racy.py").write_text(RACY)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = -p no:hypothesispytest\n")
    (tmp_path / "test_it.py").write_text("from racy import loads\ndef test_it():\n    assert loads() == ['key']\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GITHUB_"))}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}",
        "TMPDIR": str(temporary),
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "page.md"),
    }

    def run(command: str) -> subprocess.CompletedProcess[str]:
        words = shlex.split(command)
        return subprocess.run(words, cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=600)

    change = run(of_a_change)
    assert change.returncode == 0, change.stdout + change.stderr  # the race does not show by itself
    assert "1 test, 1 with threads, 0 hunted" in change.stdout

    night = run(nightly)
    assert night.returncode == 1, night.stdout + night.stderr
    assert re.search(r"^::error file=racy.py,line=\d+,title=race in ", night.stdout, re.MULTILINE)
    assert "RACE on Cache.values['key']" in (tmp_path / "page.md").read_text()
    (cached,) = set(re.findall(r"^ {10}path: (\S+)$", (HOW_TO / "races.yml").read_text(), re.MULTILINE)) - {"|"}
    assert list((tmp_path / cached).glob("test_it.py.test_it-*/fail-1.log")), "the next night begins with it"
    uploaded = re.findall(r"^ {12}(\S+)$", (HOW_TO / "races.yml").read_text(), re.MULTILINE)
    assert uploaded == ["replay-dd-logs", "report.xml"]
    assert all((tmp_path / name).exists() for name in uploaded)

    repaired = RACY.replace("        if key not in", "        with lock:\n         if key not in")
    (tmp_path / "racy.py").write_text(f"{repaired}\nlock = threading.Lock()\n")
    next_night = run(nightly)
    assert next_night.returncode == 0, next_night.stdout + next_night.stderr
    assert re.search(r"fail-1.log, found in hunt 1, passes now: repaired\?", next_night.stdout)

"""The commands in the documents work.

In every document, the blocks marked ``console`` are one session: the lines that start with ``$ `` run one after the
other in the same temporary folder, with the installed tool. A line that starts with ``> `` continues the one before.
Every command must end with status 0, and other lines (what the reader sees) are not compared. A comment in the line
above a block changes this:

* ``<!-- not run: REASON -->``: the block is skipped.
* ``<!-- exit: N -->``: the last command of the block ends with status N.
* ``<!-- file: NAME -->``, above a block of any language: the block is written to that file, for the commands after it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import PROJECT

BLOCK = re.compile(
    r"^(?:<!-- (?P<key>not run|exit|file): (?P<value>.+?) -->[ \t]*\n)?"
    r"^```(?P<language>\w*)[ \t]*\n(?P<body>.*?)^```[ \t]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """A command to run, or a file to write."""

    text: str
    status: int = 0
    file: str | None = None


def steps_of(text: str) -> list[Step]:
    steps: list[Step] = []
    for block in BLOCK.finditer(text):
        key, value = block["key"], block["value"]
        if key == "file":
            steps.append(Step(block["body"], file=value))
        elif block["language"] == "console" and key != "not run":
            commands: list[str] = []
            for line in block["body"].splitlines():
                if line.startswith("$ "):
                    commands.append(line[2:])
                elif line.startswith("> ") and commands:
                    commands[-1] += "\n" + line[2:]
            last = int(value) if key == "exit" else 0
            steps += [Step(command) for command in commands[:-1]]
            steps += [Step(command, status=last) for command in commands[-1:]]
    return steps


def documents() -> list[Path]:
    found = [PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md"), *(PROJECT / "demos").rglob("*.md")]
    return sorted(path for path in found if path.is_file())


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(PROJECT)))
def test_commands(document: Path, tmp_path: Path) -> None:
    steps = steps_of(document.read_text(encoding="utf-8"))
    variables = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    for step in steps:
        if step.file is not None:
            path = tmp_path / step.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            continue
        done = subprocess.run(
            ["bash", "-c", step.text], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=240
        )
        said = f"$ {step.text}\n{done.stdout}{done.stderr}"
        assert done.returncode == step.status, f"ended with {done.returncode}, not {step.status}:\n{said}"


def test_how_a_document_is_read() -> None:
    text = (
        "# Title\n\n```console\n$ one\nseen\n$ two \\\n> more\n```\n\n"
        "<!-- exit: 1 -->\n```console\n$ three\n$ four\n```\n"
        "<!-- not run: needs a network -->\n```console\n$ five\n```\n"
        "<!-- file: program.py -->\n```python\nprint()\n```\n\n```python\nnot = 'written'\n```\n"
    )
    assert steps_of(text) == [
        Step("one"),
        Step("two \\\nmore"),
        Step("three"),
        Step("four", status=1),
        Step("print()\n", file="program.py"),
    ]


LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(PROJECT)))
def test_links_lead_somewhere(document: Path) -> None:
    targets = [match["target"] for match in LINK.finditer(document.read_text(encoding="utf-8"))]
    local = [target for target in targets if "://" not in target and not target.startswith("mailto:")]
    assert not [target for target in local if not (document.parent / target).exists()]

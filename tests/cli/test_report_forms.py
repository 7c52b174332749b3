"""The forms of an answer: in five lines, side by side, in Markdown, as a diagram; one is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.forked import CommandServer
from tests.cli.tool import RACE, READ, WRITE, Workshop, make_workshop

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def race(tmp_path_factory: pytest.TempPathFactory, commands: CommandServer) -> Workshop:
    shop = make_workshop(tmp_path_factory.mktemp("forms"), commands)
    shop.write(RACE)
    assert shop.run("hunt", "--seed", "0", *shop.program()).status == 0
    return shop


@pytest.fixture(scope="module")
def written(race: Workshop) -> tuple[str, str, str]:
    """What is printed with `--short`, and the files written besides."""
    done = race.run(
        "schedules",
        "--short",
        "--experiments",
        "0",
        "--markdown",
        "race.md",
        "--mermaid",
        "race.mmd",
        "pass.log",
        "fail.log",
    )
    assert done.status == 0
    return done.stdout, *((race.folder / name).read_text(encoding="utf-8") for name in ("race.md", "race.mmd"))


def test_five_lines(written: tuple[str, str, str]) -> None:
    lines = written[0].splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("RACE on Account.balance: lost update; ValueError: balance is 1")
    assert re.match(rf"thread 0\.[12]   1\. prog\.py:{READ} reads 0  \d\. prog\.py:{WRITE} stores 1 over 1$", lines[1])
    assert re.match(
        rf"thread 0\.[12]   2\. prog\.py:{READ} reads 0  3\. prog\.py:{WRITE} stores 1( over 0)?$", lines[2]
    )
    assert lines[3] == "proof        both runs replayed afresh, 3 times each, with equal digests"
    assert lines[4] == "fails        replay-dd replay minimal-fail.log"
    assert max(map(len, lines)) <= 80


def test_markdown(written: tuple[str, str, str]) -> None:
    text = written[1]
    assert text.startswith("### Race: lost update\n\nOn `Account.balance` (")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {4}
    assert any(f"| `prog.py:{READ}` | `before = account.balance`<br>reads 0" in row for row in rows)
    assert text.count("```") % 2 == 0
    assert "```mermaid\nsequenceDiagram\n" in text
    assert "replay-dd replay minimal-fail.log  # fails" in text


LINES = [
    r"    autonumber",
    r"    participant [TD]\d as [^;|<>]+",
    r"    T\d(->>|-->>)[TD]\d: [^|<>\n]+(<br/>[^|<>\n]+)?",
    r"    Note over T\d: [^|<>\n]+",
]


def test_diagram(written: tuple[str, str, str]) -> None:
    first, *lines = written[2].splitlines()
    assert first == "sequenceDiagram"
    assert [line for line in lines if not any(re.fullmatch(form, line) for form in LINES)] == []
    drawn = [line.split(":")[0].strip() for line in lines if "->>" in line]
    assert drawn == ["T0-->>D0", "T1-->>D0", "T1->>D0", "T0->>D0"], "reads are dashed"


def test_lanes(race: Workshop) -> None:
    done = race.run("schedules", "--lanes", "--experiments", "0", "pass.log", "fail.log")
    assert done.status == 0
    lines = done.stdout.splitlines()
    head = next(number for number, line in enumerate(lines) if line.count("thread 0.") == 2 and line.startswith(" "))
    (second,) = (found.start() for found in re.finditer("thread 0.", lines[head]) if found.start() > 20)
    assert lines[head + 1].startswith(f"prog.py:{READ}")
    assert lines[head + 1].index("before = account.balance") < second
    assert re.match(r"switch +\*─+>$", lines[head + 3])
    other = next(line for line in lines[head + 4 :] if line.startswith("prog.py"))
    assert other.index("before = account.balance") == second
    assert max(map(len, lines[: head + 20])) <= 80
    assert "proof        both runs replayed afresh" in done.stdout


def test_a_form_is_printed_instead_of_the_text(race: Workshop, written: tuple[str, str, str]) -> None:
    done = race.run("schedules", "--experiments", "0", "--mermaid", "-", "pass.log", "fail.log")
    assert done.stdout == written[2]
    assert not (race.folder / "-").exists()


def test_a_file_that_cannot_be_written_is_told_before_the_search(race: Workshop) -> None:
    done = race.run("schedules", "--markdown", "prog.py/race.md", "pass.log", "fail.log")
    done.refused(5, "output-unwritable")


def test_show_has_them(race: Workshop, tmp_path: Path) -> None:
    done = race.run("show", "--markdown", tmp_path / "log.md", "--mermaid", "-", "fail.log")
    assert done.status == 0
    assert "participant T1 as thread 0.1" in done.stdout
    assert "is preempted at prog.py:" in done.stdout
    assert "| outcome | `ValueError: balance is 1" in (tmp_path / "log.md").read_text(encoding="utf-8")

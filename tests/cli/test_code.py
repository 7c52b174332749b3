"""``replay-dd code``: results, and what goes wrong in words."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

PROGRAM = "import os\n\n\ndef first():\n\treturn [number for number in range(3)]\n"
FINDS = ["--", "sh", "-c", "! grep -q range {}"]


@pytest.fixture
def programs(shop: Workshop) -> Workshop:
    (shop.folder / "a.py").write_text(PROGRAM)
    return shop


def test_the_answer_in_words_and_as_a_file(programs: Workshop) -> None:
    done = programs.run("code", "a.py", *FINDS)
    assert (done.status, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:3] == ["a.py fails with 1 of its 5 lines:", "  range", ""]
    assert any(line.startswith("minimal      1-minimal") for line in lines)
    (edits,) = (line for line in lines if line.startswith("edits"))
    assert edits.startswith("edits        1 statement, 1 block, ")
    assert "failing      a-minimal.py" in lines
    assert (programs.folder / "a-minimal.py").read_text() == "range\n"
    assert (programs.folder / "a.py").read_text() == PROGRAM


def test_the_answer_for_machines_and_as_a_test(programs: Workshop) -> None:
    options = ["--json", "-o", "out/x.py", "--write-test", "out/test_x.py", "--jobs", "2"]
    done = programs.run("code", "a.py", *options, *FINDS)
    answer = json.loads(done.stdout)
    import replay_dd

    schema = Path(replay_dd.__file__).parent / "report" / "isolation.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text()))
    assert answer["circumstance"] == "code"
    assert answer["answer"]["files"] == {"a.py": "range\n"}
    assert (answer["answer"]["lines_before"], answer["answer"]["lines"], answer["answer"]["minimal"]) == (5, 1, True)
    assert answer["files"] == {"failing": "out/x.py", "test": "out/test_x.py"}
    test = (programs.folder / "out" / "test_x.py").read_text()
    names: dict[str, object] = {}
    exec(compile(test, "test_x.py", "exec"), names)
    written = names["test_sh_on_a"]
    assert callable(written)
    with pytest.raises(AssertionError, match="sh still fails on this program: exit status 1"):
        written()
    exec(compile(test.replace('"range', '"other'), "test_x.py", "exec"), names)
    repaired = names["test_sh_on_a"]
    assert callable(repaired)
    repaired()


def test_a_package(programs: Workshop) -> None:
    package = programs.folder / "package"
    (package / "inner").mkdir(parents=True)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "a.pyc").write_bytes(b"range")
    (package / "inner" / "b.py").write_text(PROGRAM)
    (package / "__init__.py").write_text("from package.inner.b import first\n")
    (package / "data.bin").write_bytes(b"\xff")
    command = ["--", "sh", "-c", '! grep -q range -r "$@"', "sh", "{}"]
    done = programs.run("code", "package", "--output-folder", "out", *command)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.startswith("package fails with 1 of its 6 lines:\n  package/inner/b.py:\n  range\n")
    left = [path.relative_to(programs.folder / "out") for path in (programs.folder / "out").rglob("*.*")]
    assert left == [Path("package/inner/b.py")]
    assert "not empty" in programs.run_here("code", "package", "--output-folder", "out", *command).refused(2, "usage")


@pytest.mark.once
def test_all_files_that_were_named_are_in_the_answer(programs: Workshop) -> None:
    (programs.folder / "b.py").write_text("b = 1\nbytes(b)\n")
    command = ["--", "sh", "-c", 'grep -q bytes "$2" && ! grep -q range "$1"', "sh", "{}"]
    done = programs.run("code", "a.py", "b.py", "--max-tests", "1", *command)
    assert done.stdout.startswith("a.py and b.py fail with "), done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "slug", "said"),
    [
        (["nowhere.py", *FINDS], 5, "input-unusable", "nowhere.py cannot be read"),
        (["a.py"], 2, "usage", "after `--`"),
        (["a.py", "--"], 2, "usage", "after `--`"),
        (["broken.py", *FINDS], 5, "input-unusable", "broken.py, line 2"),
        (["empty.py", *FINDS], 5, "input-unusable", "empty"),
        (["folder", *FINDS], 5, "input-unusable", "no Python file"),
        (["a.py", "--", "cat", "{}"], 3, "does-not-fail", "a.py: exit status 0"),
        (["a.py", "--", "false", "{}"], 3, "does-not-pass", "empty program"),
        (["a.py", "--", "no-such-tool", "{}"], 2, "program-not-found", "no-such-tool"),
        (["a.py", "--", "cat", "a.py"], 2, "usage", "names a.py itself"),
        (["a.py", "-o", "a.py", *FINDS], 2, "usage", "overwrite"),
        (["a.py", "--output-folder", "x", *FINDS], 2, "usage", "-o"),
        (["a.py", "b.py", "-o", "x", *FINDS], 2, "usage", "--output-folder"),
        (["a.py", "b.py", "--", "cat"], 2, "usage", "standard input"),
        (["a.py", "--grep", "(", *FINDS], 2, "usage", "not a regular expression"),
    ],
)
def test_what_goes_wrong(arguments: list[str], status: int, slug: str, said: str, programs: Workshop) -> None:
    (programs.folder / "empty.py").touch()
    (programs.folder / "folder").mkdir()
    (programs.folder / "b.py").write_text("b = 1\n")
    (programs.folder / "broken.py").write_text("a = 1\nif a\n")
    before = sorted(programs.folder.iterdir())
    assert said in programs.run("code", *arguments).refused(status, slug)
    assert sorted(programs.folder.iterdir()) == before

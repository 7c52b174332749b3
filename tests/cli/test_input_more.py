"""``replay-dd input --tree``, ``--all`` and ``--write-test``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest

import replay_dd
from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

STOPS = ["--grep", "KEY ERROR", "--", "sh", "-c", 'grep -qx "use k" {}/main && grep -q w {}/lib/k && echo KEY ERROR']
# Fails as a compiler does: at the first of several errors, each with a status of its own.
FIRST_ERROR = ["--", "sh", "-c", "exit $(grep -o 'bad [0-9]' {} | head -n 1 | tr -dc 0-9)"]


@pytest.fixture
def project_folder(shop: Workshop) -> Workshop:
    for path, text in {
        "app/main": "first\nuse k\nlast\n",
        "app/lib/k": "one\ntwo\n",
        "app/lib/other": "x",
        "app/docs/a/b": "y",
        "app/run.sh": "#!/bin/sh\n",
        "app/.git/index": "w",
    }.items():
        file = shop.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (shop.folder / "app" / "run.sh").chmod(0o755)
    return shop


def files_in(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_folder(project_folder: Workshop) -> None:
    before = files_in(project_folder.folder / "app")
    done = project_folder.run("input", "--tree", "app", *STOPS)
    assert (done.status, done.stderr) == (0, "")
    assert files_in(project_folder.folder / "app-minimal") == {"main": "use k", "lib/k": "w"}
    assert files_in(project_folder.folder / "app") == before
    assert done.stdout.startswith("app fails with 2 of its 5 files, and 6 of their 37 bytes:\n  lib/k\n    w\n  main\n")


def test_a_folder_in_which_the_command_runs(project_folder: Workshop) -> None:
    done = project_folder.run("input", "--tree", "app", "-o", "left", "--json", "--", "sh", "-c", "! test -x run.sh")
    answer = json.loads(done.stdout)["answer"]
    assert (answer["contents"], answer["files_before"]) == ({"run.sh": ""}, 5)
    assert os.access(project_folder.folder / "left" / "run.sh", os.X_OK)


def test_a_program_beside_a_folder(project_folder: Workshop) -> None:
    (project_folder.folder / "fails").write_text('#!/bin/sh\n! grep -q w "$1/lib/k"\n')
    (project_folder.folder / "fails").chmod(0o755)
    done = project_folder.run("input", "--tree", "app", "-o", "left", "--", "./fails", "{}")
    assert (done.status, files_in(project_folder.folder / "left")) == (0, {"lib/k": "w"}), done.stderr


@pytest.mark.parametrize("script", ["süb/m.py", "{}/süb/m.py"])
def test_a_folder_with_the_script_that_runs(script: str, shop: Workshop) -> None:
    (shop.folder / "app" / "süb").mkdir(parents=True)
    (shop.folder / "app" / "süb" / "m.py").write_text("x = 1\nimport sys\nsys.exit(9)\n")
    (shop.folder / "app" / "other").write_text("y")
    done = shop.run("input", "--tree", "app", "-o", "left", "--json", "--", sys.executable, script)
    assert (done.status, json.loads(done.stdout)["failure"]) == (0, "exit status 9")


@pytest.mark.parametrize(("command", "left"), [("input", "x=y=0\nx/y\n"), ("code", "0/0\n")])
def test_the_input_is_the_script_that_runs(command: str, left: str, shop: Workshop) -> None:
    """The failing line may become another one."""
    (shop.folder / "p.py").write_text("import os\nx=1\ny=0\n\nz=x/y\n")
    done = shop.run(command, "p.py", "--json", "-o", "left", "--write-test", "test_p.py", "--", sys.executable, "{}")
    assert done.status == 0
    assert json.loads(done.stdout)["failure"].startswith("ZeroDivisionError: ")
    assert (shop.folder / "left").read_text().strip() == left.strip()
    ran = shop.run_pytest("test_p.py")
    assert "ZeroDivisionError: division by zero" in ran.stdout
    assert ran.returncode == 1


def test_a_folder_with_one_file(shop: Workshop) -> None:
    (shop.folder / "app").mkdir()
    (shop.folder / "app" / "empty").touch()
    done = shop.run("input", "--tree", "app", "--", "sh", "-c", "! test -e empty")
    assert done.stdout.startswith("app fails with 1 of its 1 file, and 0 of their 0 bytes:\n  empty (empty)\n")


def test_a_folder_with_files_of_many_kinds(project_folder: Workshop) -> None:
    (project_folder.folder / "app" / "data").write_bytes(b"\0\1\2\0")
    (project_folder.folder / "app" / "a.json").write_text('{"a": [1, 2, {"b": 3}]}')
    grep = ["--", "sh", "-c", "! { grep -q b a.json && od -An -c data | grep -q 002; }"]
    done = project_folder.run("input", "--tree", "app", "-o", "left", "--units", "tree,bytes", *grep)
    assert (done.status, done.stderr) == (0, "")
    left = project_folder.folder / "left"
    assert {path.name: path.read_bytes() for path in left.iterdir()} == {"data": b"\2", "a.json": b"b"}


def test_all_failures(shop: Workshop) -> None:
    (shop.folder / "many").write_text("a\n  bad 3 x\nb\nc bad 4\n" + "d\n" * 20 + "bad 3\n")
    done = shop.run("input", "many", "--all", "--json", "--plot", "search.svg", *FIRST_ERROR)
    assert done.status == 0
    answer = json.loads(done.stdout)
    schema = Path(replay_dd.__file__).parent / "report" / "isolation.schema.json"
    for one in (answer, *answer["answer"]["others"]):
        jsonschema.validate(one, json.loads(schema.read_text()))
    others = [(one["failure"], one["answer"]["failing"]) for one in answer["answer"]["others"]]
    assert (answer["failure"], answer["answer"]["failing"]) == ("exit status 3", "bad 3")
    assert others == [("exit status 4", "bad 4"), ("exit status 3", "bad 3")]
    assert answer["answer"]["rest"] == "exit status 0"
    written = {path.name: path.read_text() for path in shop.folder.glob("many-*")}
    assert written == {"many-minimal": "bad 3", "many-minimal-2": "bad 4", "many-minimal-3": "bad 3"}
    assert (shop.folder / "search-3.svg").exists()
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == ["failure 1", "failure 2", "failure 3"]


def test_all_failures_in_words(shop: Workshop) -> None:
    (shop.folder / "many").write_text("a bad 3\nb\nc bad 3\n")
    done = shop.run("input", "many", "--all", *FIRST_ERROR)
    assert done.stdout.startswith(
        "many shows 2 failures, 1 of them different.\n\nFailure 1\nmany fails with 5 of its 18"
    )
    assert done.stdout.endswith("\nwithout them exit status 0\n")
    stopped = shop.run("input", "many", "--all", "--max-tests", "3", "-o", "x", *FIRST_ERROR)
    assert "without them not known: the search was stopped" in stopped.stdout


def test_all_failures_of_a_folder(project_folder: Workshop) -> None:
    says = "cat app/* app/lib/* lib/* * 2>/dev/null | grep -q two && exit 2; grep -q last main && exit 3; exit 0"
    done = project_folder.run("input", "--tree", "app", "--all", "-o", "left", "--", "sh", "-c", says)
    assert "app shows 2 failures." in done.stdout
    assert files_in(project_folder.folder / "left") == {"lib/k": "two"}
    assert files_in(project_folder.folder / "left-2") == {"main": "last"}


@pytest.mark.parametrize("option", ["--tree", "--all"])
def test_a_test_is_written(option: str, shop: Workshop) -> None:
    (shop.folder / "in").mkdir()
    (shop.folder / "in" / "many").write_text("a\nbad 3\nbad 4\n")
    if option == "--tree":
        command = ["--tree", "in", "--", "sh", "-c", "! grep -q bad many"]
    else:
        command = ["in/many", "--all", *FIRST_ERROR]
    done = shop.run("input", "--write-test", "tests/test_it.py", *command)
    assert "test         tests/test_it.py" in done.stdout
    again = shop.run("input", "--write-test", "tests/test_it.py", *command)
    assert "exists already" in again.stderr
    broken = shop.run_pytest("tests/test_it.py")
    assert broken.returncode == 1, broken.stdout
    assert f"{1 if option == '--tree' else 2} failed" in broken.stdout
    path = shop.folder / "tests" / "test_it.py"
    path.write_text(path.read_text().replace("b'bad", "b'good"))
    assert shop.run_pytest("tests/test_it.py").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status", "slug", "said"),
    [
        (["--tree", "nowhere", *STOPS], 2, "usage", "nowhere"),
        (["--tree", "app/main", *STOPS], 2, "usage", "app/main"),
        (["--tree", "empty", *STOPS], 5, "input-unusable", "has no files"),
        (["--tree", "app"], 2, "usage", "-- CMD"),
        (["app", *STOPS], 2, "usage", "`--tree app"),
        (["--tree", "app", "--passing", "app/main", *STOPS], 2, "usage", "--passing"),
        (["--tree", "app", "--options", "-a", *STOPS], 2, "usage", "--tree"),
        (["--tree", "app", "-o", "app", *STOPS], 2, "usage", "overwrite"),
        (["--tree", "app", "-o", "full", *STOPS], 5, "output-unwritable", "not empty"),
        (["--tree", "app", "--", "true"], 3, "does-not-fail", "app"),
        (["app/main", "--all", "--isolate", *STOPS], 2, "usage", "--all"),
        (["app/main", "--tree", "app", *STOPS], 2, "usage", "the file app/main does not go"),
        (["app/main", "--", "{options}"], 2, "usage", "of a program, which comes before"),
        (["--tree", "app", "--", "{options}", "true"], 2, "usage", "of a program, which comes before"),
    ],
)
def test_what_goes_wrong(arguments: list[str], status: int, slug: str, said: str, project_folder: Workshop) -> None:
    (project_folder.folder / "empty").mkdir()
    (project_folder.folder / "full").mkdir()
    (project_folder.folder / "full" / "x").touch()
    done = project_folder.run("input", *arguments)
    assert f"[{slug}]" in done.stderr
    assert done.status == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_standard_input_as_the_input(shop: Workshop) -> None:
    for name in ("-", "/dev/stdin"):
        done = shop.run("input", name, "--", "sh", "-c", "! grep -q b {}", stdin=b"a\nb\n")
        assert (done.status, done.stderr) == (0, "")
        assert done.stdout.startswith("stdin fails with 1 of its 4 bytes:\n  b\n")
        assert files_in(shop.folder) == {"stdin-minimal": "b"}
    done = shop.run("input", "-", "--passing", "-", "--", "false", stdin=b"a")
    done.refused(2, "usage")
    shop.run("input", "-", "-o", "-", "--", "false", stdin=b"a").refused(2, "usage")


def test_a_file_that_changes_meanwhile_is_noted(shop: Workshop) -> None:
    (shop.folder / "letters.txt").write_text("a\nb\n")
    edits = "! grep -q b {} || { echo c > letters.txt; exit 1; }"
    note = "note         letters.txt has changed since it was read; the answer is about what was in it then."
    done = shop.run("input", "letters.txt", "--jobs", "1", "--", "sh", "-c", edits)
    assert done.status == 0, done.stderr
    assert note in done.stdout.splitlines()
    (shop.folder / "letters.txt").write_text("a\nb\n")
    edits = edits.replace("echo c >", "rm -f")
    assert note in shop.run("input", "letters.txt", "--all", "--jobs", "1", "--", "sh", "-c", edits).stdout.splitlines()

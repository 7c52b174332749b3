"""``replay-dd changes``: results, and what goes wrong in words."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import replay_dd
from tests.changes.versions import NEW, OLD, TEST, write
from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

RUN = ["--", "python", "-c", TEST]


@pytest.fixture
def versions(shop: Workshop) -> Workshop:
    write(shop.folder / "old", {"prices.py": OLD, "notes": "a\n"})
    write(shop.folder / "new", {"prices.py": NEW, "notes": "b\n"})
    return shop


def test_the_answer_in_words_and_as_a_patch(versions: Workshop) -> None:
    done = versions.run("changes", "old", "new", *RUN)
    assert (done.status, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:13] == [
        "This change makes it fail:",
        "",
        "  prices.py, average:",
        "       7    ",
        "       8    def average(prices):",
        "       9  -     if not prices:",
        "      10  -         return 0",
        "      11        return total(prices) / len(prices)",
        "      12    ",
        "",
        "needs        nothing else: applied alone, it makes the old version fail",
        "failure      ZeroDivisionError: division by zero (prices.py:9 in average) (exit status 1)",
        "changes      9 changed lines in 2 files",
    ]
    assert "proof        fresh runs: 3 of 3 fail; without the difference, 0 of 3" in done.stdout
    patch = (versions.folder / "failing.patch").read_text()
    assert [line for line in patch.splitlines() if line.startswith("-    ")] == [
        "-    if not prices:",
        "-        return 0",
    ]


def test_the_answer_for_machines(versions: Workshop) -> None:
    done = versions.run("changes", "--json", "-o", "out/x.patch", "old", "new", *RUN)
    answer = json.loads(done.stdout)
    schema = Path(replay_dd.__file__).parent / "report" / "isolation.schema.json"
    jsonschema.validate(answer, json.loads(schema.read_text()))
    assert (answer["circumstance"], answer["goal"]) == ("changes", "isolate")
    assert (answer["answer"]["files"], answer["answer"]["changed_lines"]) == (["prices.py"], 9)
    assert answer["answer"]["patch"] == (versions.folder / "out" / "x.patch").read_text()
    assert answer["answer"]["levels"][0]["unit"] == "changed folder"
    assert answer["answer"]["renamed"] == {}


def test_the_answer_for_machines_tells_the_old_path_of_a_renamed_file(versions: Workshop) -> None:
    rest = "".join(f"x{number} = {number}\n" for number in range(20))
    for version, name, text in (("old", "first", OLD), ("new", "second", NEW)):
        write(
            versions.folder / version, {f"{name}.py": text + rest, "prices.py": f"from {name} import average, show\n"}
        )
    done = versions.run("changes", "--json", "old", "new", *RUN)
    answer = json.loads(done.stdout)["answer"]
    assert (answer["files"], answer["renamed"]) == (["second.py"], {"second.py": "first.py"})


def test_a_test_that_lies_beside_the_versions(versions: Workshop) -> None:
    versions.write(TEST.replace("; ", "\n"), "test.py")
    done = versions.run("changes", "old", "new", "--", "python", "test.py")
    assert (done.status, done.stderr) == (0, "")
    assert "ZeroDivisionError" in done.stdout


CALM = """\
import threading
lock = threading.Lock()
total = 0
def add():
    global total
    with lock:
        total = total + 1
"""
CHECK = """\
import threading, counting
threads = [threading.Thread(target=counting.add) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert counting.total == 2, counting.total
"""


def test_a_schedule_of_a_test_that_lies_beside_the_versions(shop: Workshop) -> None:
    """It was recorded where the test lay in the version, and fails in the same file wherever that is."""
    write(shop.folder / "old", {"counting.py": CALM})
    write(shop.folder / "new", {"counting.py": CALM.replace("with lock", "if lock")})
    for folder in ("", "new/"):
        shop.write(CHECK, f"{folder}check.py")
    recording = Workshop(shop.folder / "new", shop.temporary, shop.variables, shop.commands)
    assert recording.run("hunt", "-o", "..", "--no-simplify", "--", "python", "check.py").status == 0
    (shop.folder / "new" / "check.py").unlink()
    done = shop.run("changes", "--schedule", "fail.log", "--runs", "5", "old", "new", "--", "python", "check.py")
    assert (done.status, done.stderr) == (0, "")
    assert "with lock:" in done.stdout
    assert "AssertionError" in done.stdout


def test_a_test_that_lies_in_the_work_tree_and_in_no_commit(versions: Workshop) -> None:
    """Python looks first in the folder of a script, where the modules of the work tree are."""
    repository = versions.folder / "repository"
    repository.mkdir()
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(repository)]
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    for name, text in (("old", OLD), ("new", NEW)):
        (repository / "prices.py").write_text(text)
        subprocess.run([*git, "add", "prices.py"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", name], check=True)
    (repository / "helper.py").write_text("from prices import *\n")
    (repository / "check.py").write_text(TEST.replace("prices", "helper"))
    inside = Workshop(repository, versions.temporary, versions.variables, versions.commands)
    done = inside.run("changes", "HEAD~1", "HEAD", "--", "python", "check.py")
    assert (done.status, done.stderr) == (0, "")
    assert "ZeroDivisionError" in done.stdout


def test_what_is_written_beside_the_answer(versions: Workshop) -> None:
    files = ["--passing-patch", "out/passing.patch", "--log", "out/log", "--write-test", "tests/test_prices.py"]
    done = versions.run("changes", *files, "old", "new", *RUN)
    assert (done.status, done.stderr) == (0, "")
    log = (versions.folder / "out" / "log").read_text().splitlines()
    assert all(line.startswith("# ") for line in log)
    assert any(line.startswith("# bad: test ") for line in log)
    assert any(line.startswith("# good: test ") for line in log)
    assert log[-1] == "# the change: prices.py, average"
    for version, patches, fails in (("old", [], False), ("old", ["out/passing.patch"], False), ("new", [], True)):
        tree = versions.folder / "tree"
        shutil.copytree(versions.folder / version, tree)
        for patch in patches:
            text = (versions.folder / patch).read_bytes()
            subprocess.run(["git", "apply", "-p1", "--allow-empty", "-"], cwd=tree, input=text, check=True)
        test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "../tests/test_prices.py"]
        tried = subprocess.run(test, cwd=tree, capture_output=True, text=True)
        assert (tried.returncode, "ZeroDivisionError" in tried.stdout) == (int(fails), fails), tried.stdout
        shutil.rmtree(tree)


def test_a_relative_search_path_is_that_of_the_folder_we_are_in(versions: Workshop) -> None:
    write(versions.folder / "helpers", {"limits.py": "LIMIT = 1\n"})
    versions.variables = {"PYTHONPATH": "helpers"}
    done = versions.run("changes", "old", "new", "--", "python", "-c", f"import limits; {TEST}")
    assert (done.status, done.stderr) == (0, "")


def test_git_replays_the_log_of_commits(versions: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")

    def git(*arguments: str) -> str:
        command = ["git", *who, *arguments]
        return subprocess.run(command, cwd=versions.folder, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    for number in range(6):
        write(versions.folder, {"prices.py": OLD if number < 3 else NEW, "count": str(number)})
        git("add", "prices.py", "count")
        git("commit", "-q", "-m", f"Step {number}")
    done = versions.run("changes", "--log", "log", "HEAD~5..HEAD", *RUN)
    assert (done.status, done.stderr) == (0, "")
    assert "is the first bad commit" in git("bisect", "replay", "log")
    assert "Step 3" in git("show", "-s", "--format=%s", "refs/bisect/bad")


@pytest.mark.parametrize("lucky_runs", [(3, 4, 5), (3, 4, 5, 7)])
def test_a_guilty_commit_that_passes_by_luck(
    lucky_runs: tuple[int, ...], versions: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It passes when it is run as a commit, and when that is confirmed, but fails as the old version.

    The next commit may pass by luck right after that.
    """
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    git = ["git", "-C", str(versions.folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for number in range(3):
        write(versions.folder, {"risks.py": f"taken = {number > 0}\nnumber = {number}\n"})
        subprocess.run([*git, "add", "risks.py"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", f"Step {number}"], check=True)
    count = versions.folder / "runs"
    count.write_text("")
    lucky = f"""if True:
        import pathlib, risks
        runs = pathlib.Path({str(count)!r})
        if risks.taken:
            runs.write_text(runs.read_text() + ".")
            assert len(runs.read_text()) in {lucky_runs}, "unlucky"
    """
    done = versions.run("changes", "--jobs", "1", "HEAD~2..HEAD", "--", "python", "-c", lucky)
    assert (done.status, done.stderr) == (0, "")
    assert "Step 1" in done.stdout


def test_a_text_that_is_the_failure(versions: Workshop) -> None:
    done = versions.run("changes", "--grep", "by zero", "--levels", "file,hunk", "old", "new", *RUN)
    assert (done.status, done.stderr) == (0, "")
    assert "failure      the output has: ZeroDivisionError: division by zero" in done.stdout


@pytest.mark.parametrize(
    "arguments, status, slug, said",
    [
        (["new", "old", *RUN], 3, "does-not-fail", "new version does not fail"),
        (["old", "old", *RUN], 3, "no-difference", "the same"),
        (["old", "new", "--", "python", "-c", "import prices"], 3, "does-not-fail", "new version does not fail"),
        (["old", "nowhere", *RUN], 5, "version-unusable", "nowhere"),
        (["old", "prices.txt", *RUN], 5, "version-unusable", "known kind"),
        (["old", "new"], 2, "usage", "Two versions and a command"),
        (["old", "--", "python"], 2, "usage", "before the `--`; there is 1"),
        (["--", *RUN[1:]], 2, "usage", "before the `--`; there are none"),
        (["old", "new", "prices.txt", *RUN], 2, "usage", "before the `--`; there are 3"),
        (["old..new", "new", *RUN], 2, "usage", "A range of versions belongs alone before the `--`; there are 2"),
        (["--grep", "(", "old", "new", *RUN], 2, "usage", "regular expression"),
        (["--grep", "x", "--script", "old", "new", *RUN], 2, "usage", "not both"),
        (["--levels", "chapter", "old", "new", *RUN], 2, "usage", "folder, file"),
        (["old", "new", "--", "no-such-program"], 127, "program-not-found", "no-such-program"),
        (["-o", "prices.txt/x", "old", "new", *RUN], 2, "output", "prices.txt"),
        (["--build", "exit 3", "old", "new", *RUN], 3, "does-not-fail", "the build fails"),
    ],
)
def test_what_goes_wrong(arguments: list[str], status: int, slug: str, said: str, versions: Workshop) -> None:
    (versions.folder / "prices.txt").touch()
    before = sorted(versions.folder.rglob("*"))
    done = versions.run("changes", *arguments)
    assert said in done.stderr
    assert f"[{slug}" in done.stderr
    assert done.status == status or slug in ("program-not-found", "output")
    assert "Traceback" not in done.stderr
    assert sorted(versions.folder.rglob("*")) == before


def test_ctrl_c_keeps_the_best_so_far(versions: Workshop) -> None:
    """The first mixture waits: it has the new notes, but not all of the new program."""
    begun = versions.folder / "begun"
    versions.variables = {"BEGUN": str(begun)}
    wait = (
        "import os, time; new = ['b' in open('notes').read(), 'digits' in open('prices.py').read()]; "
        "mixed = new[0] != new[1]; mixed and open(os.environ['BEGUN'], 'w'); mixed and time.sleep(600); "
    )
    process = versions.start("changes", "--jobs", "1", "old", "new", "--", "python", "-c", wait + TEST)
    versions.wait_for(begun, process)
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "")
    assert "the search was stopped by Ctrl-C; this is the best result so far" in stdout
    assert (versions.folder / "failing.patch").exists()
    versions.check_clean()

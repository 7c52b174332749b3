"""``replay-dd bisect`` on a small repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bisect.repository import Repository
from tests.cli.schemas import checked
from tests.cli.tool import RACE, Workshop

pytestmark = pytest.mark.once

UPDATE = "    before = account.balance\n    account.balance = before + 1\n"
LOCKED = "    with lock:\n        before = account.balance\n        account.balance = before + 1\n"
REPAIRED = RACE.replace(UPDATE, LOCKED).replace("account =", "lock = threading.Lock()\naccount =", 1)
BROKEN = "raise SystemExit('no build')\n"


@pytest.fixture
def repository(shop: Workshop) -> Repository:
    """Eight commits: the third does not build, the fifth brings the race; a test is not part of them."""
    made = Repository(shop.folder)
    for number in range(8):
        text = REPAIRED if number < 4 else RACE
        made.commit(f"Step {number}", account=f"# {number}\n{text}", build=BROKEN if number == 2 else "")
    made.git("tag", "v1", "HEAD~7")
    shop.write("import account\n", "check.py")
    return made


def test_the_guilty_commit_with_its_evidence_and_its_log(repository: Repository, shop: Workshop) -> None:
    (shop.folder / "account.py").write_text("not saved yet\n", encoding="utf-8")
    before = repository.git("status", "--porcelain=v2", "--branch")
    command = ("bisect", "v1", "HEAD", "--runs", "6", "--build", "python build.py", "-o", "../guilty.log")
    done = shop.run(*command, "--json", *shop.program(name="check.py"))
    assert done.status == 0, done.stderr
    answer = checked(done.stdout)
    assert answer["guilty"]["subject"] == "Step 4"
    assert answer["guilty"]["author"] == "Ann"
    assert answer["confirmed"]
    outcomes = {one["subject"]: one["outcome"] for one in answer["tested"]}
    assert (outcomes["Step 0"], outcomes["Step 3"]) == ("PASS", "PASS")
    assert (outcomes["Step 4"], outcomes["Step 7"]) == ("FAIL", "FAIL")
    assert "changes that are not committed" in done.stderr
    assert "check.py is not part of both ends" in done.stderr
    assert repository.git("status", "--porcelain=v2", "--branch") == before, "the work tree is as it was"
    assert repository.git("worktree", "list", "--porcelain").count("worktree ") == 1

    repository.git("checkout", "--quiet", "--force", answer["guilty"]["commit"])
    replayed = shop.run("replay", "../guilty.log")
    assert replayed.status == 1
    assert "digest: same" in replayed.stdout + replayed.stderr

    again = shop.run(*command, "--schedule", "../guilty.log", "-o", "../again.log", *shop.program(name="check.py"))
    assert again.status == 0, again.stderr
    assert again.stdout.startswith(f"{answer['guilty']['commit']} is the first bad commit\nsubject      Step 4\n")


def test_ends_of_a_history_that_are_not_as_claimed(repository: Repository, shop: Workshop) -> None:
    program = shop.program(name="check.py")
    said = shop.run("bisect", "v1", "HEAD~4", "--runs", "4", *program).refused(3, "does-not-fail")
    assert "HEAD~4 passes: no failure in 4 runs" in said
    said = shop.run("bisect", "HEAD~2", "HEAD", "--runs", "4", *program).refused(3, "does-not-pass")
    assert "HEAD~2 fails, too: ValueError: balance is 1" in said
    said = shop.run("bisect", "v1", "HEAD", "--build", "false", *program).refused(3, "does-not-fail")
    assert "not built (exit status 1)" in said
    said = shop.run("bisect", "v1", "HEAD", "--", "python", "nowhere.py").refused(3, "does-not-fail")
    assert "At HEAD, the command starts no threads. It ends with exit status 2" in said
    assert "what is not in the commits, such as generated files, is up to `--build CMD`" in said


def test_bad_input(repository: Repository, shop: Workshop, tmp_path: Path) -> None:
    shop.run_here("bisect", "v1", "--", "python").refused(2, "usage")
    shop.run_here("bisect", "v9", "HEAD", "--", "python", "check.py").refused(5, "version-unusable")
    shop.run_here("bisect", "HEAD", "v1", "--", "python", "check.py").refused(2, "usage")


def test_a_file_of_the_command_that_only_one_end_has(repository: Repository, shop: Workshop) -> None:
    repository.git("mv", "account.py", "shop.py")
    repository.git("commit", "--quiet", "--message", "Another name")
    said = shop.run("bisect", "v1", "HEAD", *shop.program(name="account.py")).refused(2, "usage")
    commit = repository.git("rev-parse", "v1")[:12]
    assert f"Only {commit} has the file account.py" in said
    assert f"`git show {commit}:account.py > account.py`" in said


def test_a_link_to_the_repository_is_no_way_around_the_commits(
    repository: Repository, shop: Workshop, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(repository.folder)
    command = ("bisect", "HEAD~4", "HEAD~3", "--runs", "4", "--json", "-o", "../guilty.log")
    done = shop.run(*command, *shop.program(name=str(link / "account.py")))
    assert done.status == 0, done.stderr
    assert checked(done.stdout)["guilty"]["subject"] == "Step 4"


def test_arguments_that_are_no_files(repository: Repository, shop: Workshop, tmp_path: Path) -> None:
    repository.git("rm", "--quiet", "build.py")
    (shop.folder / "tool").write_text("", encoding="utf-8")
    repository.git("add", "tool")
    repository.git("commit", "--quiet", "--message", "A tool")
    repository.git("rm", "--quiet", "tool")
    repository.git("commit", "--quiet", "--message", "No tool")
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    words = ("tool", "x" * 5000, str(circle))  # the name of a file that an old commit has, too
    program = (*shop.program(name="account.py"), *words)
    said = shop.run("bisect", "HEAD~1", "HEAD", "--runs", "4", *program).refused(3, "does-not-pass")
    assert "HEAD~1 fails, too" in said


def test_the_command_that_brings_a_file_makes_its_folder(repository: Repository, shop: Workshop) -> None:
    (shop.folder / "my tests").mkdir()
    (shop.folder / "my tests" / "one.py").write_text("import account\n", encoding="utf-8")
    repository.git("add", "my tests")
    repository.git("commit", "--quiet", "--message", "A test")
    repository.git("rm", "--quiet", "-r", "my tests")
    repository.git("commit", "--quiet", "--message", "No test")
    said = shop.run("bisect", "HEAD~1", "HEAD", *shop.program(name="my tests/one.py")).refused(2, "usage")
    commit = repository.git("rev-parse", "HEAD~1")[:12]
    assert f"`mkdir -p 'my tests' && git show '{commit}:my tests/one.py' > 'my tests/one.py'`" in said

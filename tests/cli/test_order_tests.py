"""`--write-test` writes a short, clean test that can fail; `verify-test` shows that it tells two versions apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import replay_dd
from tests.cli.forked import CommandServer
from tests.cli.schemas import checked
from tests.cli.tool import RACE, Workshop, make_workshop

REPAIRED = RACE.replace(
    "    before = account.balance\n    account.balance = before + 1\n",
    "    with lock:\n        before = account.balance\n        account.balance = before + 1\n",
).replace("import threading\n", "import threading\n\nlock = threading.Lock()\n")
LINE_GONE = REPAIRED.replace(
    "        before = account.balance\n        account.balance = before + 1\n", "        account.balance += 1\n"
)
TEST = Path("tests", "test_race.py")

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, commands: CommandServer) -> Workshop:
    """A folder in which a test was written."""
    shop = make_workshop(tmp_path_factory.mktemp("written"), commands)
    shop.write(RACE)
    assert shop.run("hunt", "--seed", "0", *shop.program()).status == 0
    done = shop.run("schedules", "--short", "--experiments", "0", "--write-test", TEST, "pass.log", "fail.log")
    assert done.status == 0
    assert done.stdout.splitlines()[-1].startswith(f"test         {TEST}: fails here")
    return shop


@pytest.fixture
def shop(written: Workshop, tmp_path: Path, commands: CommandServer) -> Workshop:
    """A folder with the program and the test, and nothing else."""
    shop = make_workshop(tmp_path, commands)
    shop.write(RACE)
    (shop.folder / TEST).parent.mkdir()
    (shop.folder / TEST).write_text((written.folder / TEST).read_text(encoding="utf-8"), encoding="utf-8")
    return shop


def pytest_run(shop: Workshop, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(TEST)],
        cwd=shop.folder,
        env=shop.environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


def git(shop: Workshop, *arguments: str) -> str:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = {f"GIT_{who}_{what}": "x@y.z" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", *arguments], cwd=shop.folder, env={**os.environ, **own, **names}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_test_is_short(written: Workshop) -> None:
    text = (written.folder / TEST).read_text(encoding="utf-8")
    assert len(text.splitlines()) < 40
    assert max(map(len, text.splitlines())) <= 88
    assert str(written.folder) not in text


@pytest.mark.parametrize(
    "module, options",
    [
        ("ruff", ["format", "--isolated", "--check"]),
        ("ruff", ["check", "--isolated", "--select", "ALL", "--ignore", "CPY,S,INP,D"]),
        ("mypy", ["--strict", "--cache-dir", os.devnull, "--follow-imports=silent"]),
    ],
)
def test_checkers_of_source_have_nothing_to_say(module: str, options: list[str], written: Workshop) -> None:
    pytest.importorskip(module, reason="where only what the tests need is installed")
    # mypy does not find packages that are installed as a link.
    variables = {**os.environ, "MYPYPATH": str(Path(replay_dd.__file__).parents[1])}
    command = [sys.executable, "-m", module, *options, TEST]
    done = subprocess.run(command, cwd=written.folder, capture_output=True, text=True, env=variables)
    assert done.returncode == 0, done.stdout


def test_it_fails_while_the_race_is_there(shop: Workshop) -> None:
    done = pytest_run(shop)
    assert done.returncode == 1
    assert "AssertionError: the program fails in this order: ValueError: balance is 1" in done.stdout
    shop.write("# another line\n" + RACE)
    assert pytest_run(shop).returncode == 1


def test_it_passes_once_it_is_repaired(shop: Workshop) -> None:
    shop.write(REPAIRED)
    done = pytest_run(shop, "-W", "error")
    assert done.returncode == 0, done.stdout


def test_it_warns_if_its_line_is_gone(shop: Workshop) -> None:
    shop.write(LINE_GONE)
    done = pytest_run(shop)
    assert done.returncode == 0
    assert "OrderGoneWarning: a switch of this test has lost its place" in done.stdout
    assert pytest_run(shop, "-W", "error").returncode == 1


def test_it_fails_if_it_cannot_tell(shop: Workshop) -> None:
    shop.write(REPAIRED.replace("deposit", "pay_in"))
    text = (shop.folder / TEST).read_text(encoding="utf-8")
    (shop.folder / TEST).write_text(text.replace("before + 1", "before + 2"), encoding="utf-8")
    done = pytest_run(shop)
    assert done.returncode == 1
    assert "OrderGoneError: this test cannot tell any more" in done.stdout


def test_a_test_whose_program_is_its_own_test_run_does_not_run_itself(shop: Workshop) -> None:
    text = (shop.folder / TEST).read_text(encoding="utf-8")
    (shop.folder / TEST).write_text(text.replace('"python prog.py"', '"pytest -q tests"'), encoding="utf-8")
    done = pytest_run(shop)
    assert "cannot tell any more" in done.stdout, "its program, which skips the test, starts no thread"


def test_files_are_never_overwritten(shop: Workshop) -> None:
    before = (shop.folder / TEST).read_bytes()
    said = shop.run("minimize", "--write-test", TEST, "fail.log").stderr
    assert "fail.log" in said, "which is not there"
    assert shop.run("hunt", "--seed", "0", *shop.program()).status == 0
    for command in (["schedules", "pass.log"], ["minimize"]):
        assert "exists already" in shop.run_here(*command, "--write-test", TEST, "fail.log").refused(
            5, "output-unwritable"
        )
    assert (shop.folder / TEST).read_bytes() == before


def test_minimize_writes_one_too(written: Workshop) -> None:
    done = written.run("minimize", "--json", "--write-test", "tests/test_minimal.py", "fail.log")
    assert checked(done.stdout)["files"]["test"] == "tests/test_minimal.py"
    assert "check_order(" in (written.folder / "tests" / "test_minimal.py").read_text(encoding="utf-8")


# -- verify-test -----------------------------------------------------------------------------------------------------


def test_both_ways(shop: Workshop) -> None:
    git(shop, "init", "--quiet")
    git(shop, "add", "prog.py")
    git(shop, "commit", "--quiet", "-m", "broken")
    done = shop.run("verify-test", "--repeats", "1", TEST)
    assert done.status == 0
    assert done.stdout.startswith("here         fails as recorded, 1 of 1 runs: ValueError: balance is 1")
    shop.write(REPAIRED)
    status = git(shop, "status", "--porcelain")
    done = shop.run("verify-test", "--repeats", "2", TEST)
    assert done.status == 0
    assert "unrepaired   HEAD: fails as recorded, 2 of 2 runs" in done.stdout
    assert "repaired     the files here: passes, 2 of 2 runs" in done.stdout
    assert git(shop, "status", "--porcelain") == status
    git(shop, "commit", "--quiet", "-a", "-m", "repair")
    assert "only half of the proof" in shop.run("verify-test", "--repeats", "1", TEST).stdout
    done = shop.run("verify-test", "--repeats", "1", "--json", "--revert", "HEAD", TEST)
    told = checked(done.stdout)
    assert (done.status, told["verified"]) == (0, True)
    assert [version["role"] for version in told["versions"]] == ["unrepaired", "repaired"]
    assert (shop.folder / "prog.py").read_text(encoding="utf-8") == REPAIRED
    assert git(shop, "stash", "list") == ""


def test_a_test_that_does_not_notice_the_repair(shop: Workshop) -> None:
    (shop.folder / "old").mkdir()
    (shop.folder / "old" / "prog.py").write_text(RACE, encoding="utf-8")
    done = shop.run("verify-test", "--repeats", "1", "--old", "old", TEST)
    assert done.status == 3
    assert "NOT verified: it does not pass in the files here" in done.stdout
    (shop.folder / "old" / "prog.py").write_text(REPAIRED, encoding="utf-8")
    shop.write(REPAIRED)
    done = shop.run("verify-test", "--repeats", "1", "--old", "old", TEST)
    assert done.status == 3
    assert "NOT verified: it does not fail in old" in done.stdout


def test_a_test_that_fails_for_another_reason(shop: Workshop) -> None:
    (shop.folder / "old").mkdir()
    (shop.folder / "old" / "prog.py").write_text(RACE.replace("ValueError", "KeyError"), encoding="utf-8")
    shop.write(REPAIRED)
    done = shop.run("verify-test", "--repeats", "1", "--old", "old", TEST)
    assert done.status == 3
    assert "old: fails in another way" in done.stdout


def test_wrong_input(shop: Workshop, tmp_path: Path) -> None:
    shop.run_here("verify-test", "tests/test_other.py").refused(2, "usage")
    shop.run_here("verify-test", "--old", "a", "--revert", "b", TEST).refused(2, "usage")
    shop.run_here("verify-test", "--old", "nowhere", TEST).refused(5, "version-unusable")
    shop.run_here("verify-test", "--revert", "HEAD", TEST).refused(5, "version-unusable")
    outside = tmp_path / "test_outside.py"
    outside.write_text("def test_x(): pass\n", encoding="utf-8")
    shop.run_here("verify-test", outside).refused(2, "usage")
    plain = shop.folder / "test_plain.py"
    plain.write_text("def test_x(): pass\n", encoding="utf-8")
    done = shop.run("verify-test", "--repeats", "1", "test_plain.py")
    assert (done.status, "no `check_order` was called" in " ".join(done.stdout.split())) == (3, True)
    plain.write_text("nothing = 1\n", encoding="utf-8")
    shop.run_here("verify-test", "--repeats", "1", "test_plain.py").refused(2, "usage")
    assert "test_plain.py::test_y" in shop.run_here("verify-test", "test_plain.py::test_y").refused(2, "usage")

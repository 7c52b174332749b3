"""``replay-dd verify-fix``: a verdict in words and as an exit status; and ``schedules --experiments``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replay_dd.cli import verify_fix as module
from replay_dd.schedules.experiments.verify import STILL_FAILS, Verification
from replay_dd.schedules.model import Log
from tests.cli.schemas import checked
from tests.cli.tool import RACE, WRITE, Workshop
from tests.schedules.logs import FAILED, log_of

pytestmark = pytest.mark.once

UPDATE = "    before = account.balance\n    account.balance = before + 1\n"
LOCKED = "    with lock:\n        before = account.balance\n        account.balance = before + 1\n"
REPAIRED = RACE.replace(UPDATE, LOCKED).replace("account =", "lock = threading.Lock()\naccount =", 1)


def test_a_repair_and_no_repair(shop: Workshop) -> None:
    shop.write(RACE)
    assert shop.run("hunt", "-o", ".", "--no-simplify", *shop.program()).status == 0

    done = shop.run("verify-fix", "--runs", "4", "fail.log")
    assert done.status == 1, done.stderr
    assert done.stdout.startswith("verdict      still fails\nfailure      ValueError: balance is 1 (prog.py:")
    assert "no source file of the program has changed" in done.stderr
    assert shop.run("replay", "still-fails.log").status == 1

    shop.write(REPAIRED)
    done = shop.run("verify-fix", "--runs", "4", "fail.log")
    assert done.status == 0, done.stdout + done.stderr
    assert done.stdout.startswith("verdict      repaired: 0 of ")
    assert "hunted       4 schedules" in done.stdout

    shop.write("import threading\nfor _ in range(2): threading.Thread(target=print).start()\n", "other.py")
    done = shop.run("verify-fix", "--runs", "0", "--json", "-o", "o.log", "fail.log", *shop.program(name="other.py"))
    answer = checked(done.stdout)
    assert (done.status, answer["verdict"]) == (125, "cannot tell"), answer
    assert answer["format"] == "replay-dd verification"
    assert not (shop.folder / "o.log").exists()

    shop.write(REPAIRED + "raise KeyError(1)\n")
    done = shop.run("verify-fix", "--runs", "0", "-o", "o.log", "fail.log")
    assert done.status == 1
    assert done.stdout.startswith("verdict      fails otherwise")
    assert shop.run("replay", "o.log").status == 1


def test_what_is_no_verdict_is_above_127(race: Workshop, tmp_path: Path) -> None:
    race.run("verify-fix", "found/pass.log").refused(131, "does-not-fail")
    race.run("verify-fix", "found/fail.log", "-o", tmp_path / "x.log", "--", "python", "gone.py").refused(
        130, "program-not-found"
    )
    race.run_here("verify-fix").refused(130, "usage")


def test_experiments_stand_in_the_story(race: Workshop, tmp_path: Path) -> None:
    command = ("schedules", "found/pass.log", "found/fail.log", "-o", tmp_path, "--experiments", "3")
    told = race.run(*command).stdout
    assert f"tried        with prog.py:{WRITE - 1}-{WRITE} as one step:\n               0 of " in told
    answer = checked(race.run(*command, "--json").stdout)["answer"]["story"]["tried"]
    (attempt,) = [one for one in answer["attempts"] if one["verdict"] == "prevents"]
    assert attempt["regions"] == [{"file": "prog.py", "function": "deposit", "first": WRITE - 1, "last": WRITE}]
    assert attempt["with"]["failed"] == 0 < attempt["without"]["failed"]
    assert answer["schedules"] == answer["neighbours"] + 3


def test_ctrl_c_while_the_log_is_checked_keeps_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = log_of([], FAILED)

    def interrupted(*arguments: object) -> Log:
        raise KeyboardInterrupt

    made = Verification(verdict=STILL_FAILS, failing=failing)
    monkeypatch.setattr(module, "verify_repair", lambda *arguments, **named: made)
    monkeypatch.setattr(module, "verify_log", interrupted)
    options: dict[str, Any] = {"command": (), "runs": 1, "seed": 0, "jobs": 1, "no_fork": False, "as_json": True}
    options |= {"output": tmp_path / "still.log", "time_limit": None, "env": (), "max_delay": None}
    assert module.verify_fix_of(failing, tmp_path / "fail.log", **options) == 130
    assert (tmp_path / "still.log").exists()
    assert made.verdict == STILL_FAILS

"""A test that pins an order down fails on broken code, passes on repaired code, and tells when its place is gone."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Ending, Frame, Program, UncaughtException
from replay_dd.schedules.replaying.pinned_order import (
    Kind,
    PinnedOrder,
    Switch,
    Verdict,
    _is_exit,
    commanded,
    failure_of,
    portable,
)

# What is sought in runs, and not what runs do, which depends on the Python.
pytestmark = pytest.mark.once

BROKEN = """\
import threading

lock = threading.Lock()


class Account:
    balance = 0


def deposit():
    before = account.balance
    account.balance = before + 1


account = Account()
threads = [threading.Thread(target=deposit) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if account.balance != 2:
    raise ValueError(f"balance is {account.balance}")
print("all there")
"""
BODY = "    before = account.balance\n    account.balance = before + 1\n"
SWITCH = Switch("0.1 -> 0.2", "prog.py", "deposit", "account.balance = before + 1", before="STORE_ATTR", column=1)
ORDER = PinnedOrder(["python", "prog.py"], Path(), (SWITCH,), "ValueError in <module>")


def run(folder: Path, body: str, order: PinnedOrder = ORDER) -> Verdict:
    assert BROKEN.count(BODY) == 1
    (folder / "prog.py").write_text(BROKEN.replace(BODY, body), encoding="utf-8")
    return replace(order, folder=folder).run()


def test_broken_code_fails(tmp_path: Path) -> None:
    found = run(tmp_path, BODY)
    assert (found.kind, found.tried, found.why) == (Kind.FAILS, 0, ())
    assert found.ending.startswith("ValueError: balance is 1")
    assert "balance is 1" in found.output


def test_a_line_that_has_moved_is_found(tmp_path: Path) -> None:
    body = f"    # a comment\n    if True:\n{''.join(f'    {line}' for line in BODY.splitlines(keepends=True))}"
    found = run(tmp_path, body)
    assert (found.kind, found.tried) == (Kind.FAILS, 0)


def test_a_lock_passes(tmp_path: Path) -> None:
    body = f"    with lock:\n{''.join(f'    {line}' for line in BODY.splitlines(keepends=True))}"
    found = run(tmp_path, body)
    assert (found.kind, found.tried, found.why) == (Kind.PASSES, 0, ())
    assert found.output == "all there"


def test_without_its_line_the_switch_is_tried_everywhere_in_the_function(tmp_path: Path) -> None:
    found = run(tmp_path, "    with lock:\n        account.balance += 1\n")
    assert found.kind is Kind.PASSES
    assert found.tried > 1
    gone, tried = found.why
    assert "`account.balance = before + 1` is not in deposit any more" in gone
    assert f"at {found.tried} of {found.tried} places in deposit, thread 0.1" in tried


def test_without_its_line_broken_code_still_fails(tmp_path: Path) -> None:
    found = run(tmp_path, "    seen = account.balance\n    account.balance = seen + 1\n")
    assert found.kind is Kind.FAILS
    assert found.tried > 0
    assert "with the switch at prog.py:12 instead, it fails" in found.why[-1]


def test_without_its_function_it_cannot_tell(tmp_path: Path) -> None:
    order = replace(ORDER, switches=(SWITCH._replace(function="withdraw", line="nothing = here"),))
    found = run(tmp_path, BODY, order)
    assert (found.kind, found.tried) == (Kind.GONE, 0)
    assert "withdraw, thread 0.1 passes no other place" in found.why[-1]


def test_without_two_of_its_lines_it_cannot_tell(tmp_path: Path) -> None:
    gone = SWITCH._replace(line="nothing = here")
    found = run(tmp_path, BODY, replace(ORDER, switches=(gone, gone._replace(threads="0.2 -> 0.1"))))
    assert (found.kind, len(found.why)) == (Kind.GONE, 2)


def test_another_failure_is_told_from_the_recorded_one(tmp_path: Path) -> None:
    found = run(tmp_path, BODY, replace(ORDER, failure="KeyError in deposit"))
    assert found.kind is Kind.FAILS_OTHERWISE
    assert run(tmp_path, BODY, replace(ORDER, failure="")).kind is Kind.FAILS


def exit_of(text: str = "", function: str = "check", complaints: tuple[str, ...] = (), status: int = 1) -> Ending:
    frames = (Frame("bank.py", 7, function, True),)
    return Ending(status, exit=UncaughtException("main", "SystemExit", text, frames), complaints=complaints)


NO_MONEY = "exit status 1 in check: no money left in account #"


@pytest.mark.parametrize(
    ("ending", "held"),
    [
        (exit_of("no money left in account 7\nask the bank"), NO_MONEY),
        (
            exit_of(complaints=("error: no lock", "error: no account 'a'")),
            "exit status 1 in check: error: no account #",
        ),
        (exit_of(status=3), "exit status 3 in check"),
        (Ending(1), "exit status 1"),
        (Ending(1, complaints=("error: 7 left",)), "exit status 1: error: # left"),
    ],
)
def test_an_exit_is_known_by_what_it_says(ending: Ending, held: str) -> None:
    assert failure_of(ending) == held
    assert _is_exit(held, ending)


@pytest.mark.parametrize(
    ("held", "ending", "same"),
    [
        ("exit status 1", exit_of("no money left"), True),  # a test that was written before exits had a place
        ("exit status 2", exit_of("no money left"), False),
        ("exit status 1 in check", exit_of("no money left"), True),
        (NO_MONEY, exit_of("no money left in account 8"), True),
        (NO_MONEY, exit_of("no such account"), False),
        (NO_MONEY, exit_of("no money left in account 8", "main"), False),
        (NO_MONEY, exit_of(), False),
        (NO_MONEY, Ending(1), True),  # nothing is known but the status
        (NO_MONEY, Ending(1, complaints=("error: no such account",)), False),
        ("exit status 1 in check: error: gone", exit_of(complaints=("error: gone", "error: busy")), True),
        ("exit status 1 in check: error: gone", exit_of(complaints=("error: busy",)), False),
        (NO_MONEY, Ending(None, signal=9), False),
        ("KeyError in check", exit_of(), False),
    ],
)
def test_exits_that_a_test_holds_differ_in_status_place_or_words(held: str, ending: Ending, same: bool) -> None:
    assert _is_exit(held, ending) is same


@pytest.mark.parametrize(
    "leave", ["sys.exit('ledger: {0} of 2')", "print('error: {0} of 2', file=sys.stderr), sys.exit(1)"]
)
def test_an_exit_with_other_words_is_another_failure(leave: str, tmp_path: Path) -> None:
    ends = 'raise ValueError(f"balance is {account.balance}")'
    text = BROKEN.replace("import threading\n", "import sys, threading\n")
    order = replace(ORDER, folder=tmp_path, failure="exit status 1 in <module>: ledger: # of #")
    order = order if "ledger" in leave else replace(order, failure="exit status 1 in <module>: error: # of #")
    found = {}
    for what in ("missing", "left"):
        program = text.replace(ends, leave.replace("of 2", f"of 2{' left' * (what == 'left')}").replace("{0}", "1"))
        (tmp_path / "prog.py").write_text(program, encoding="utf-8")
        found[what] = order.run().kind
    assert found == {"missing": Kind.FAILS, "left": Kind.FAILS_OTHERWISE}
    assert replace(order, failure="exit status 1").run().kind is Kind.FAILS, "as tests held it before"


def test_programs_are_those_of_this_environment(tmp_path: Path) -> None:
    beside = str(Path(sys.executable).with_name("pytest"))
    assert commanded(["python3.11", "-m", "this"], tmp_path) == (sys.executable, "-m", "this")
    assert commanded(["python3.14t", "-m", "this"], tmp_path) == (sys.executable, "-m", "this")
    assert commanded(["pytest", "-q"], tmp_path) == (beside, "-q")
    assert commanded(["./tool", "-q"], tmp_path) == ("./tool", "-q")


@pytest.mark.parametrize(
    ("command", "written"),
    [
        (("/env/bin/python3.12", "/srv/shop/run.py", "x"), ("python", "run.py", "x")),
        (("/env/bin/python3.14t", "/srv/shop/run.py", "x"), ("python", "run.py", "x")),
        (("/env/bin/pytest", "tests/test_shop.py::test_x"), ("pytest", "tests/test_shop.py::test_x")),
        (("/usr/bin/other", "/etc/hosts"), ("/usr/bin/other", "/etc/hosts")),
        (("python", "-m", "shop"), ("python", "-m", "shop")),
    ],
)
def test_no_path_of_this_machine_is_written(command: tuple[str, ...], written: tuple[str, ...]) -> None:
    assert portable(Program(command, "/srv/shop", executable="/env/bin/python3.12")) == written

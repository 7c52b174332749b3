"""What a log keeps of the environment, and what a run gets."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.errors.user import UsageError
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.replaying.record import record
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.running.environment import changed, differences, kept, of_run
from replay_dd.schedules.running.target import Plan, describe_program, run_target

SETTINGS = Settings(start_ns=1_700_000_000_000_000_000)
LIMIT_S = 120
# Its path depends on all variables. But each run has a TMPDIR of its own: other tests may make one in between.
PROGRAM = """
import os, threading

def work():
    del os.environ["TMPDIR"]
    for name, value in sorted(os.environ.items()):
        if len(value) % 2:
            print(name, value)

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def program_in(folder: Path) -> Program:
    (folder / "prog.py").write_text(PROGRAM)
    return describe_program((sys.executable, "prog.py"), directory=folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DB_PASSWORD", "x"),
        ("MYSQL_PWD", "x"),
        ("API_KEY", "x"),
        ("NPM_CONFIG__AUTH", "x"),
        ("github_token", "x"),
        ("DATABASE_URL", "postgres://me:word@host/db"),
        ("ANYTHING", "ghp_0123456789abcdef"),
        ("ANYTHING", "0123456789abcdef0123456789abcdef"),
        ("ANYTHING", "-----BEGIN RSA"),
    ],
)
def test_what_looks_like_a_secret_is_not_kept(name: str, value: str) -> None:
    assert kept({name: value, "MODE": "fast"}) == ({"MODE": "fast"}, (name,))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PWD", "/place"),
        ("KEYBOARD", "us"),
        ("SSL_KEY_FILE", "/etc/k"),
        ("HOME", "/place/me"),
        ("LS_COLORS", "a=1:b=2"),
    ],
)
def test_what_does_not_look_like_one_is(name: str, value: str) -> None:
    assert kept({name: value}) == ({name: value}, ())


@pytest.mark.parametrize("name", ["DISPLAY", "SSH_AUTH_SOCK", "LD_PRELOAD", "BASH_ENV", "TMPDIR", "REPLAY_DD_REQUEST"])
def test_what_belongs_to_the_shell_is_neither_kept_nor_told(name: str) -> None:
    assert kept({name: "x"}) == ({}, ())


def test_a_replay_gets_the_recorded_variables_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODE", "fast!")
    monkeypatch.setenv("OTHER_TOKEN", "one")
    monkeypatch.setenv("SSH_TTY", "one")
    log = record(program_in(tmp_path), SETTINGS, time_limit_s=LIMIT_S, show_output=False).log
    assert log.verified
    monkeypatch.setenv("MODE", "slow")
    monkeypatch.setenv("NEW", "x" * 2001)
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setenv("LC_ALL", "C")
    again = replay(log, time_limit_s=LIMIT_S)
    assert again.divergence is None
    said = again.run.output.decode()
    assert "MODE fast!" in said
    assert "OTHER_TOKEN one" in said
    assert "SSH_TTY one" in said
    assert "REPLAY_DD" not in said


def test_secrets_are_not_in_the_log_and_come_from_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SECRET", "a-hidden-value")
    log = record(program_in(tmp_path), SETTINGS, time_limit_s=LIMIT_S, verify=False, show_output=False).log
    write_log(log, tmp_path / "run.log")
    assert "a-hidden-value" not in (tmp_path / "run.log").read_text()
    again = read_log(tmp_path / "run.log")
    assert "SOME_SECRET" in (again.program.withheld or ())
    assert "SOME_SECRET" in of_run(again.program, tmp_path / "request")
    monkeypatch.delenv("SOME_SECRET")
    assert "SOME_SECRET" not in of_run(again.program, tmp_path / "request")
    assert any("SOME_SECRET is not set" in line for line in differences([], again.program))


def test_the_user_may_change_variables_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(("python",), "/", environment={"A": "1", "B": "2", "C": "3"}, withheld=())
    monkeypatch.setenv("B", "here")
    monkeypatch.delenv("C", raising=False)
    now, told = changed(program, ("A=9=9", "B", "C", "D="))
    assert now.environment == {"A": "9=9", "B": "here", "D": ""}
    assert list(differences(told, program)) == [
        "A is '9=9'; it was '1'",
        "B is 'here'; it was '2'",
        "C is not set; it was '3'",
        "D is ''; it was not set",
    ]
    with pytest.raises(UsageError):
        changed(program, ("=x",))


def test_an_old_log_gets_the_rest_from_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODE", "slow")
    monkeypatch.setenv("LC_ALL", "C")
    environment = of_run(Program(("python",), "/", environment={"PATH": "/bin"}), Path("/request"))
    assert environment["MODE"] == "slow"
    assert environment["PATH"] == "/bin"
    assert "LC_ALL" not in environment


def test_from_elsewhere_a_program_sees_the_same(tmp_path: Path) -> None:
    program = program_in(tmp_path)
    outputs = {
        run_target(program, SETTINGS, Plan(), time_limit_s=LIMIT_S, elsewhere=elsewhere).output
        for elsewhere in (False, True)
    }
    assert len(outputs) == 1


def test_nothing_of_ours_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAY_DD_X", "y")
    variables, withheld = kept(os.environ)
    assert not any(name.startswith("REPLAY_DD") for name in (*variables, *withheld))
    program = replace(Program(("python",), "/"), environment=variables, withheld=withheld)
    assert "REPLAY_DD_X" not in of_run(program, Path("/request"))

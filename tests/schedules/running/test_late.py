"""Variables that are passed on late, left out by the tool."""

from __future__ import annotations

import marshal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.environment import LATE, of_run
from replay_dd.schedules.running.late import leave_out_late
from replay_dd.schedules.running.target import Plan, describe_program, run_target
from replay_dd.schedules.runtime.compat import FREE_THREADED

REAL = str(Path(sys.executable).resolve())


def left_out(program: Program, folder: Path) -> list[str]:
    """The names of the variables that a program is started without."""
    before = of_run(program, folder / "request")
    variables = dict(before)
    leave_out_late(variables, program, folder)
    if variables == before:
        assert not (folder / "late").exists()
        return []
    late = marshal.loads((folder / "late").read_bytes())
    assert variables | late | {LATE: "=".join(late)} == before
    return list(late)


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("python", "", True),
        ("script", f"#!{REAL} -u\n", True),
        ("script", "#!/bin/sh\nexec python\n", False),
        ("script", "#!/usr/bin/env python\n", False),
        ("python", "#!/bin/sh\nexec python\n", False),
        ("env", "", False),
        ("python", "no program", False),
        ("./script", f"#!{REAL}\n", True),
        ("missing", "", False),
    ],
)
def test_only_what_is_an_interpreter_starts_without_them(
    name: str, text: str, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    if text:
        path.write_text(text)
        path.chmod(0o755)
    elif name != "missing":
        path.symlink_to(REAL if name == "python" else "/usr/bin/env")
    monkeypatch.setenv("DISPLAY", ":7")
    program = Program((name, "x.py"), str(tmp_path), environment={"PATH": str(tmp_path)}, withheld=())
    assert ("DISPLAY" in left_out(program, tmp_path)) is expected


@pytest.mark.once
def test_values_that_an_interpreter_may_decode_in_its_own_way_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program((sys.executable,), str(tmp_path), environment={}, withheld=())
    monkeypatch.setenv("DISPLAY", "é")
    assert left_out(program, tmp_path) == []


@pytest.mark.once
def test_without_such_variables_nothing_is_left_out(tmp_path: Path) -> None:
    program = replace(Program((sys.executable,), str(tmp_path)), environment={}, withheld=())
    variables = {"A": "1"}
    leave_out_late(variables, program, tmp_path)
    assert variables == {"A": "1"}
    assert not list(tmp_path.iterdir())


def test_the_program_finds_them_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.py").write_text(
        "import os, threading\nprint(os.environ['DISPLAY'], os.environ['SOME_TOKEN'], 'REPLAY_DD_LATE' in os.environ)\n"
        "print(id(object()), os.popen('echo $DISPLAY').read())\nthreading.Thread().start()\n"
    )
    monkeypatch.setenv("DISPLAY", ":7")
    monkeypatch.setenv("SOME_TOKEN", "hidden")
    program = describe_program((sys.executable, "program.py"), directory=tmp_path)
    assert program.withheld is not None
    assert "SOME_TOKEN" in program.withheld
    here, again = (
        run_target(program, Settings(), Plan(), time_limit_s=60, elsewhere=elsewhere).output.decode().split()
        for elsewhere in (False, True)  # from elsewhere, the interpreter starts a second time
    )
    assert here[:3] == [":7", "hidden", "False"]
    assert here[4] == ":7"
    if FREE_THREADED:  # where addresses are not held fixed
        here[3] = again[3] = ""
    assert here == again, "at the same address, too"

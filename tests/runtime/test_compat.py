"""What is known of interpreters fits the one that runs these tests; what is not known counts."""

from __future__ import annotations

import argparse
import dis
import hashlib
import importlib
import importlib.util
import json.decoder
import opcode
import re
import shutil
import sys
import sysconfig
import threading
import tomllib
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import replay_dd.schedules.runtime as runtime
from replay_dd.errors.program import NotControlledError, UntestedInterpreterError
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.model import Settings
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.runtime import compat
from replay_dd.schedules.runtime.points import bytecode
from tests.runtime.programs import COUNTER, output_of, run_program


def load_compat() -> Any:
    """The module once more, as it is when the interpreter is as it seems now."""
    spec = importlib.util.spec_from_file_location("compat_once_more", compat.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_code(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_code(constant)


# -- the tables fit this interpreter ---------------------------------------------------------------------------------


def test_every_instruction_of_this_interpreter_is_classified() -> None:
    assert compat.unclassified() == []


def test_no_instruction_is_both_an_access_and_quiet() -> None:
    assert compat.QUIET & set(compat.KINDS) == {"PRECALL"}


def test_the_version_that_runs_the_tests_is_a_tested_one() -> None:
    assert compat.VERSION[:2] in compat.TESTED
    assert not compat.UNTESTED


def test_tested_versions_are_those_that_the_project_names(project: Path) -> None:
    classifiers = tomllib.loads((project / "pyproject.toml").read_text())["project"]["classifiers"]
    named = [name.rpartition(" ")[2] for name in classifiers if re.search(r":: 3\.\d+$", name)]
    assert named == compat.TESTED_NAMES
    tool = (project / "tools" / "environments.py").read_text()
    supported = re.search(r"^SUPPORTED = \((.*)\)$", tool, re.MULTILINE)
    assert supported is not None
    assert re.findall(r'"(.*?)"', supported[1]) == compat.TESTED_NAMES
    without_gil = re.search(r"^FREE_THREADED = \((.*)\)$", tool, re.MULTILINE)
    assert without_gil is not None
    named = re.findall(r'"(.*?)"', without_gil[1])
    assert named == ["{}.{}t".format(*version) for version in compat.TESTED_WITHOUT_GIL]


def test_private_names_are_where_the_table_says() -> None:
    wrong = []
    for module, names in compat.PRIVATE_NAMES.items():
        there = importlib.import_module(module)
        for name in names:
            found: Any = there
            for part in name.split("."):
                found = getattr(found, part, None)
            if (found is not None) != compat.has_private(module, name):
                wrong.append(f"{module}.{name}")
    assert not wrong


def test_private_attributes_are_where_the_runtime_looks_for_them() -> None:
    lock = threading.RLock()
    assert getattr(threading.Condition(lock), compat.CONDITION_LOCK) is lock
    thread = threading.Thread(target=print)
    event = compat.start_event_of(thread._bootstrap)
    assert isinstance(event, threading.Event)
    assert getattr(event._cond, compat.CONDITION_LOCK) is not None
    assert compat.start_event_of(thread.run) is None
    spec = importlib.util.find_spec("this")  # of a module that nothing imports
    assert spec is not None
    assert not compat.is_being_imported(spec)
    spec._initializing = True
    assert compat.is_being_imported(spec)


def test_the_stand_in_has_the_methods_of_the_lock() -> None:
    assert hasattr(threading.RLock(), "locked") == compat.RLOCK_HAS_LOCKED


def test_instructions_are_those_of_the_standard_library() -> None:
    for path in map(Path, (argparse.__file__, json.decoder.__file__, dis.__file__)):
        for code in all_code(compile(path.read_text(), str(path), "exec")):
            expected = [
                (instruction.offset, instruction.arg or 0)
                for instruction in dis.get_instructions(code)
                if instruction.opname not in ("EXTENDED_ARG", "CACHE")
            ]
            found = bytecode.instructions(code)
            if not compat.EVENT_AT_PREFIX:
                assert [start for start, *_ in found] == [start for start, _ in expected]
            assert [argument for _, _, argument, _ in found] == [argument for _, argument in expected]
            assert [end for *_, end in found][-1] == len(code.co_code)


def test_effects_on_the_stack_are_those_that_the_interpreter_tells() -> None:
    for name, number in opcode.opmap.items():
        takes_and_puts = compat.EFFECTS.get(compat.NAMES[number] if number < 256 else "")
        if takes_and_puts is not None:
            try:
                effect = dis.stack_effect(number, 0)
            except ValueError:  # it has no argument
                effect = dis.stack_effect(number)
            assert effect == takes_and_puts[1] - takes_and_puts[0], name


def test_checks_of_the_gil_are_those_of_the_interpreters_headers() -> None:
    """Where the interpreter's own table of instructions is at hand, and says so (from 3.13 on)."""
    header = Path(sysconfig.get_path("include"), "internal", "pycore_opcode_metadata.h")
    table = header.read_text() if header.exists() else ""
    checking = set(re.findall(r"^ *\[([A-Z]\w*)\] = .*HAS_EVAL_BREAK_FLAG", table, re.MULTILINE))
    if not checking:
        pytest.skip("this interpreter has no such table")
    # Specialised instructions are named after the ones that they stand in for, and monitored ones, too.
    known = {"RESUME", "JUMP_BACKWARD", "CALL", "CALL_KW", "CALL_FUNCTION_EX"}
    numbers = compat.CHECKS_AFTER_CALL | compat.CHECKED_JUMPS | {compat.RESUME}
    assert {compat.NAMES[number] for number in numbers} == known | {"BEFORE_WITH"}
    plain = {name.removeprefix("INSTRUMENTED_") for name in checking}
    # CALL_EX_... are forms of CALL_FUNCTION_EX; JUMP exists in the compiler only.
    odd = {name for name in plain if not any(name.startswith(prefix) for prefix in (*known, "CALL_EX_"))}
    assert odd <= {"JUMP"}


# -- one name for one thing ------------------------------------------------------------------------------------------


def names_in(statement: str) -> list[str]:
    module = compile(f"def f(a, b):\n    {statement}", "prog.py", "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, types.CodeType))
    return [compat.NAMES[operation] for _, operation, _, _ in bytecode.instructions(code)]


@pytest.mark.parametrize(
    "statement, name", [("a[b]", "BINARY_SUBSCR"), ("a + b", "BINARY_OP"), ("with a: pass", "BEFORE_WITH")]
)
def test_versions_call_the_same_thing_by_the_same_name(statement: str, name: str) -> None:
    assert names_in(statement).count(name) == 1


def test_only_the_call_that_enters_is_one() -> None:
    assert "BEFORE_WITH" not in names_in("a(b); a.x(); a[b]()")
    assert "BINARY_SUBSCR" not in names_in("a - b; a @ b; a >> b")


# -- what is not known -----------------------------------------------------------------------------------------------

BODY = "def f(a, b):\n    a.x = b[1]\n    return a"


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The tables of an interpreter that has another name for STORE_ATTR."""
    number = opcode.opmap["STORE_ATTR"]
    names = list(opcode.opname)
    names[number] = "STORE_ATTR_SOMEHOW"
    numbers = {**opcode.opmap, "STORE_ATTR_SOMEHOW": number}
    del numbers["STORE_ATTR"]
    monkeypatch.setattr(opcode, "opname", names)
    monkeypatch.setattr(opcode, "opmap", numbers)
    module = load_compat()
    for name in ("ACCESSES", "UNKNOWN", "NAMES"):
        monkeypatch.setattr(bytecode, name, getattr(module, name))
    return module


def test_an_unknown_instruction_is_a_yield_point(newer: Any) -> None:
    assert newer.unclassified() == ["STORE_ATTR_SOMEHOW"]
    module = compile(BODY, "prog.py", "exec")
    code = next(constant for constant in module.co_consts if isinstance(constant, types.CodeType))
    (offset,) = [start for start, number, _, _ in bytecode.instructions(code) if number in newer.UNKNOWN]
    assert bytecode.describe(code, offset)[2] == "STORE_ATTR_SOMEHOW"
    assert offset in bytecode.points(code, "access")
    assert offset in bytecode.points(code, "gil")
    assert bytecode.reachable_under_gil(code, offset) == (True, False)


def test_numbers_without_a_name_are_unknown() -> None:
    nameless = {number for number in range(256) if number not in opcode.opmap.values()}
    assert nameless <= compat.UNKNOWN <= compat.ACCESSES


# -- interpreters that were not tested -------------------------------------------------------------------------------


@pytest.fixture
def with_tested(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Loads a copy of the runtime into targets, with these as the tested versions."""

    def load(tested: str) -> None:
        copy = tmp_path / "runtime"
        shutil.copytree(Path(runtime.__file__).parent, copy)
        text = (copy / "compat.py").read_text()
        changed = re.sub(r"^TESTED = .*$", f"TESTED = {tested}", text, flags=re.MULTILINE)
        assert changed != text
        (copy / "compat.py").write_text(changed)
        monkeypatch.setattr(runtime, "__file__", str(copy / "__init__.py"))

    return load


def test_an_untested_interpreter_is_refused_with_those_that_were(
    with_tested: Callable[[str], None], tmp_path: Path
) -> None:
    with_tested("((3, 6), (3, 99))")
    with pytest.raises(UntestedInterpreterError) as caught:
        run_program(tmp_path, COUNTER)
    told = str(caught.value)
    assert f"Python {compat.NAME} was not tested" in told
    assert "(tested: 3.6, 3.99" in told
    assert sys.executable in told
    assert "--untested" in caught.value.default_hint


def test_a_run_under_an_untested_interpreter_says_so(with_tested: Callable[[str], None], tmp_path: Path) -> None:
    with_tested("((3, 6), (3, 99))")
    run = run_program(tmp_path, COUNTER, settings=Settings(untested=True))
    assert output_of(run) == "4\n"
    assert run.log.ending.global_time > 10
    (note,) = run.log.ending.notes
    assert f"Python {compat.NAME} was not tested" in note
    replayed = replay(run.log, time_limit_s=60)
    assert replayed.reproduced
    assert replayed.run.log.ending.notes == (note,)


def test_an_interpreter_that_is_too_old_is_refused_all_the_same(
    with_tested: Callable[[str], None], tmp_path: Path
) -> None:
    with_tested("((3, 99),)")
    with pytest.raises(NotControlledError, match=r"too old: .* Python 3\.99 and newer") as caught:
        run_program(tmp_path, COUNTER, settings=Settings(untested=True))
    assert caught.value.slug == "not-controlled"


def test_a_program_that_is_refused_finds_nothing_of_the_runtime(
    with_tested: Callable[[str], None], tmp_path: Path
) -> None:
    with_tested("((3, 6), (3, 99))")
    text = """
        import sys
        with open("found", "w") as file:
            file.write(str([name for name in sys.modules if "_replay_dd_runtime" in name]))
    """
    with pytest.raises(UntestedInterpreterError):
        run_program(tmp_path, text)
    assert (tmp_path / "found").read_text() == "[]"


def test_the_option_changes_nothing_of_a_tested_one(tmp_path: Path) -> None:
    runs = [run_program(tmp_path / str(allowed), COUNTER, settings=Settings(untested=allowed)) for allowed in (0, 1)]
    assert runs[0].log.ending.digest == runs[1].log.ending.digest
    assert runs[1].log.ending.notes == ()


def test_a_log_without_the_setting_is_read(tmp_path: Path) -> None:
    log = run_program(tmp_path, COUNTER).log
    write_log(log, tmp_path / "new.log")
    lines = (tmp_path / "new.log").read_bytes().splitlines(keepends=True)
    assert b'"untested": false' in lines[2]
    older = [line.replace(b', "untested": false', b"") for line in lines[:-1]]
    last = json.loads(lines[-1])
    ending = json.dumps(last["end"], sort_keys=True).encode()
    last["checksum"] = hashlib.sha256(b"".join(older) + ending).hexdigest()
    (tmp_path / "old.log").write_bytes(b"".join(older) + json.dumps(last).encode() + b"\n")
    assert read_log(tmp_path / "old.log").settings == log.settings

"""Regions of the source that reach from one access of a thread to another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.experiments.sources import Sources, between
from replay_dd.schedules.virtual import Region
from tests.schedules.experiments.fakes import access, program_with
from tests.schedules.experiments.thing_program import (
    GET,
    READ,
    TEXT,
    UPDATE,
    WRITE,
    region,
)

pytestmark = pytest.mark.once


def test_a_region_reaches_from_edge_to_edge_in_the_frame_that_both_share(sources: Sources) -> None:
    assert between(READ, WRITE, sources)[:4] == [
        *(region(UPDATE, 3, 6), region(UPDATE, 3, 7)),
        *(region("Thing.both", 15), region("Thing.both", 14, 15)),
    ]


def test_accesses_of_one_line_are_one_statement(sources: Sources) -> None:
    assert between(READ, READ, sources)[0] == region(GET, 9)


def test_calls_from_two_lines_share_their_caller_only(sources: Sources) -> None:
    first, second = (access("0.1", (UPDATE, line), (GET, 9)) for line in (3, 4))
    assert between(first, second, sources)[0] == region(UPDATE, 3, 4)


def test_comprehensions_and_library_code_are_no_place_for_a_lock(sources: Sources) -> None:
    inside = access("0.1", (UPDATE, 3), (f"{UPDATE}.<locals>.<listcomp>", 3))
    library = access("0.1", (UPDATE, 6), ("-Queue.put", 100))
    assert between(inside, library, sources)[0] == region(UPDATE, 3, 6)


def test_a_handler_that_a_package_calls_shares_only_the_package_with_what_that_does_itself(tmp_path: Path) -> None:
    """As where a client takes its lock, calls a handler of the program, and that waits for another lock of it."""
    program = program_with(tmp_path, prog_py=TEXT)
    package = tmp_path / "pack" / "part.py"
    package.parent.mkdir()
    package.write_text(TEXT)
    sources = Sources(replace(program, files={**program.files, "pack/part.py": program.files["prog.py"]}))
    itself = access("0.1", (f"+{UPDATE}", 3), does="acquires")
    handler = access("0.1", (f"+{UPDATE}", 6), ("on_message", 20), (f"+{GET}", 9), does="acquires")
    assert between(itself, handler, sources)[0] == Region("pack/part.py", UPDATE, 3, 6)
    called = [access("0.1", ("work", 15), (f"+{UPDATE}", line)) for line in (3, 6)]
    assert between(*called, sources)[0] == region("work", 15)


def test_there_is_no_region_in_a_file_that_has_changed(tmp_path: Path) -> None:
    program = program_with(tmp_path, prog_py=TEXT)
    (tmp_path / "prog.py").write_text(TEXT + "#")
    assert between(READ, WRITE, Sources(program)) == []
    (tmp_path / "prog.py").write_text("no python")
    assert between(READ, WRITE, Sources(program_with(tmp_path, prog_py="no python"))) == []


def test_one_instruction_that_is_executed_twice_is_in_a_loop_or_in_two_calls(tmp_path: Path) -> None:
    text = "def get():\n    return value\ndef total():\n    return sum(get() for _ in range(2))\n"
    text += "def both():\n    for _ in range(2):\n        get()\ndef alone():\n    get()\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    ways = ((("total", 4), ("get", 2)), (("both", 7), ("get", 2)), (("alone", 9), ("get", 2)))
    found = []
    for way in ways:
        first = access("0.1", *way)
        found.append(between(first, first._replace(time=9), sources)[0])
        assert between(first, first, sources)[0] == region("get", 2), "it is one step"
    # Where no loop is seen, as of a thread pool, it may be anything.
    assert found == [region("total", 4), region("both", 6, 7), region("get", 2)]

"""Marks below lines of source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.report.carets import mark, on_one_line, words_for
from replay_dd.schedules.model import Place, Program
from replay_dd.schedules.runtime.compat import ACCESSES, NAMES, UNKNOWN
from tests.schedules.logs import log_of, vouching_for

LINE = "    größe.wert = größe.wert + eins(größe)"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    path = tmp_path / "prog.py"
    path.write_text(LINE + "\n", encoding="utf-8")
    return Place("prog.py", str(path), 1, 1 + len("    größe.wert = ".encode()), "work", "LOAD_ATTR", False)


@pytest.fixture
def program(place: Place) -> Program:
    return vouching_for(place, log_of([])).program


def test_the_caret_stands_below_the_operation(place: Place, program: Program) -> None:
    """The interpreter counts bytes, the reader characters."""
    told = mark(place, program, 12)
    shown = " " * 12 + LINE.strip()
    assert told.endswith("^ reads an attribute")
    assert shown[told.index("^") :] == "größe.wert + eins(größe)"


def test_a_place_without_a_column_or_a_file_is_marked_at_the_beginning(place: Place, program: Program) -> None:
    for unknown in (replace(place, column=0), replace(place, line=7), replace(place, file="gone.py")):
        assert mark(unknown, program, 12).index("^") == 12


def test_the_same_operation_is_told_apart_by_time(place: Place, program: Program) -> None:
    assert mark(place, program, 0, later=1).endswith("reads an attribute, 1 yield point later")
    assert mark(place, program, 0, later=-3).endswith("reads an attribute, 3 yield points earlier")


def test_places_of_one_line(place: Place) -> None:
    assert on_one_line(place, replace(place, column=3, instruction="CALL"))
    assert not on_one_line(place, replace(place, line=2))
    assert not on_one_line(place, replace(place, path="other.py"))
    assert not on_one_line(place, None)


@pytest.mark.parametrize("name", sorted(NAMES[number] for number in ACCESSES - UNKNOWN))
def test_there_are_words_for_each_kind_of_access(name: str, place: Place) -> None:
    assert words_for(replace(place, instruction=name)) != name


def test_an_operation_of_the_library_is_called_so(place: Place) -> None:
    assert "lock" in words_for(replace(place, instruction="CALL", operation=True))
    assert words_for(replace(place, instruction="SOMETHING_NEW")) == "SOMETHING_NEW"

"""Lines of the source that offsets in programs belong to."""

from __future__ import annotations

import io
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from replay_dd.experiment.elf_files import address_of, has_function_at, section_of, segments_of
from replay_dd.experiment.process import Command, private_folder
from replay_dd.experiment.source_lines import _without_arguments, source_of
from replay_dd.experiment.traced import run_traced

PROGRAM = """
static int first(char *text) {
    return text[0];
}
int main(int count, char **words) {
    return first(words[count]);
}
"""


def place_of_crash(folder: Path, *options: str, program: str = PROGRAM) -> str:
    compiler = shutil.which("cc")
    if compiler is None or shutil.which("addr2line") is None:
        pytest.skip("there is no C compiler, or no addr2line")
    (folder / "p.c").write_text(program)
    subprocess.run([compiler, "-O0", *options, "-o", folder / "p", folder / "p.c"], check=True)
    command = Command((str(folder / "p"),), folder, dict(os.environ))
    with private_folder() as private:
        return run_traced(command, private, time_limit_s=60).place


@pytest.mark.parametrize("linked", ["-pie", "-no-pie"])
def test_the_line_of_a_crash_is_told_wherever_the_program_is_linked_for(tmp_path: Path, linked: str) -> None:
    assert place_of_crash(tmp_path, "-g", linked).endswith(": first (p.c:3)")


def test_without_lines_the_function_is_told_and_without_names_nothing(tmp_path: Path) -> None:
    assert place_of_crash(tmp_path).endswith(": first")
    place = place_of_crash(tmp_path, "-s")
    assert place.startswith("p+0x")
    assert ":" not in place


def test_the_nearest_name_before_is_not_that_of_the_function(tmp_path: Path) -> None:
    """What a program exports keeps its name when it is stripped; the functions between lose theirs."""
    options = ("-rdynamic", "-s", "-fno-toplevel-reorder")
    place = place_of_crash(tmp_path, *options, program="int before(void) { return 0; }" + PROGRAM)
    assert place.startswith("p+0x")
    assert ":" not in place
    assert place_of_crash(tmp_path, *options, program=PROGRAM.replace("static ", "")).endswith(": first")


def test_a_damaged_table_of_names_names_nothing(tmp_path: Path) -> None:
    place = place_of_crash(tmp_path).partition(":")[0]
    program = (tmp_path / "p").read_bytes()
    offset = int(place.partition("+")[2], 16)
    with (tmp_path / "p").open("rb") as file:
        segment = section_of(file, b".symtab")
        assert segment is not None
        assert has_function_at(file, address_of(segments_of(reread(file)), offset) or 0)
        assert not has_function_at(file, 1)
    header = program.index(struct.pack("=QQ", segment.offset, segment.size))
    for size in (1 << 63, 25):
        damaged = program[:header] + struct.pack("=QQ", segment.offset, size) + program[header + 16 :]
        with pytest.raises(struct.error):
            has_function_at(io.BytesIO(damaged), 1)


def reread(file: BinaryIO) -> BinaryIO:
    file.seek(0)
    return file


def test_what_is_no_program_or_has_no_such_offset_has_no_source(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    (tmp_path / "cut").write_bytes(Path(sys.executable).resolve().read_bytes()[:70])
    assert source_of(str(tmp_path / "text"), 1) == ""
    assert source_of(str(tmp_path / "cut"), 1) == ""
    assert source_of(str(tmp_path / "missing"), 1) == ""
    assert source_of(str(Path(sys.executable).resolve()), 1 << 40) == ""


@pytest.mark.parametrize(
    "function, name",
    [
        ("main", "main"),
        ("length(std::string const&)", "length"),
        ("Parser::element(Node&) const", "Parser::element"),
        ("(anonymous namespace)::f(void (*)(int), int)", "(anonymous namespace)::f"),
        ("Sum::operator()(int) const", "Sum::operator()"),
        ("odd)", "odd)"),
    ],
)
def test_types_of_arguments_are_left_out(function: str, name: str) -> None:
    assert _without_arguments(function) == name

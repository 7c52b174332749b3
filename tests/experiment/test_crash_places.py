"""Kinds of machine code and signals of which places are known, or are not."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.experiment.test_traced import traced

TRAPS = """
#include <signal.h>
static void raises(void) { raise(SIGTRAP); }
int main(int count, char **words) { (void)words; if (count > 1) raises(); return 0; }
"""
# It needs no library, which a machine may not have for 32 bits.
NARROW = """
void _start(void) { *(volatile int *)(4 * sizeof(long)) = 1; }
"""


def compiled(folder: Path, text: str, *options: str) -> Path:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (folder / "p.c").write_text(text)
    made = subprocess.run(
        [compiler, "-g", "-O0", *options, "-o", folder / "p", folder / "p.c"], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip(f"it does not compile {options}")
    return folder / "p"


def test_traps_have_places(tmp_path: Path) -> None:
    program = compiled(tmp_path, TRAPS)
    found = traced(program, "now")
    assert found.signal == 5
    assert found.place.startswith("p+0x"), found.place
    assert traced(program).status == 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="elsewhere, compilers have no such option")
def test_a_program_of_32_bits_has_no_place_rather_than_a_wrong_one(tmp_path: Path) -> None:
    found = traced(compiled(tmp_path, NARROW, "-m32", "-nostdlib", "-static", "-fno-pic", "-no-pie"))
    assert (found.signal, found.place) == (11, "")

"""An accelerator that was built from other source is noticed, not used."""

from __future__ import annotations

import _imp
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import replay_dd.schedules.runtime as runtime
from replay_dd.schedules.runtime.compat import NAME

RUNTIME = Path(runtime.__file__).parent
ROOM = RUNTIME / "accelerator"
built = pytest.importorskip(
    "replay_dd.schedules.runtime.accelerator._accelerator", reason="no accelerator was compiled"
)


def test_it_is_of_this_source() -> None:
    """Where this fails, install the package again: all other tests of the accelerator are about an older one."""
    sources = [*sorted(ROOM.glob("*.h")), *sorted(ROOM.glob("*.c"))]
    assert built.source == _imp.source_hash(0, b"".join(path.read_bytes() for path in sources)).hex()


@pytest.mark.parametrize("addition", ["", "def more() -> int: ...\n"])
def test_one_with_another_interface_is_not_used(addition: str, tmp_path: Path) -> None:
    copy = tmp_path / "runtime"
    shutil.copytree(RUNTIME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "accelerator" / "_accelerator.pyi").open("a") as file:
        file.write(addition)
    code = "import runtime.accelerator as room; print(room.accelerator is None, room.accelerator_reason)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    reason = " is of another version of replay-dd; install it again" if addition else ""
    assert done.stdout == f"{bool(addition)} the accelerator for Python {NAME}{reason}\n"

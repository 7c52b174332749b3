"""How the runtime is loaded, and that the program meets nothing of that."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from replay_dd.schedules.runtime import loading
from tests.runtime.programs import output_of, run_program

SHOWS_IMPORTS = """
import gc, sys
print([type(finder).__name__ for finder in sys.meta_path], gc.isenabled(), gc.get_threshold(), gc.get_freeze_count())
"""


def test_the_program_finds_the_import_system_and_the_collector_as_they_are_without_us(tmp_path: Path) -> None:
    ours = output_of(run_program(tmp_path, SHOWS_IMPORTS))
    plain = subprocess.run([sys.executable, "-c", SHOWS_IMPORTS], capture_output=True, text=True, timeout=60)
    assert ours == plain.stdout


@pytest.mark.once
def test_where_a_lock_was_taken_before_the_first_thread_is_told(tmp_path: Path) -> None:
    text = """
import threading
lock = threading.Lock()
lock.acquire()
thread = threading.Thread(target=lock.acquire)
thread.start()
thread.join()
"""
    told = [str(waiter) for waiter in run_program(tmp_path, text).log.ending.deadlock]
    assert any("took at prog.py:4" in one for one in told), told


@pytest.fixture
def compiled(tmp_path: Path) -> tuple[bytes, os.stat_result]:
    """A compiled file, and what the system tells of its source."""
    source = tmp_path / "one.py"
    source.write_text("value = 1\n")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(tmp_path)], check=True, timeout=60)
    return Path(importlib.util.cache_from_source(str(source))).read_bytes(), source.stat()


@pytest.mark.once
@pytest.mark.parametrize("at", [0, 4, 8, 12])  # its version, whether it goes by a hash, time, size
def test_a_compiled_file_that_is_not_of_this_source_is_not_used(
    at: int, compiled: tuple[bytes, os.stat_result]
) -> None:
    data, source = compiled
    assert loading._is_up_to_date(data, source)
    assert not loading._is_up_to_date(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], source)

"""Semaphores of ``multiprocessing``, and the process that removes those which a program leaves behind."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.programs import output_of, run_program

# What a process that ends in the middle leaves behind, its tracker removes, and tells; here, before the end.
LEFT_BEHIND = """
    import os
    from multiprocessing import get_context, resource_tracker
    lock = get_context("spawn").Lock()
    resource_tracker._resource_tracker._stop()
    print("stopped", flush=True)
    os._exit(0)
"""


def test_what_a_run_leaves_behind_is_not_told_by_another_process(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, LEFT_BEHIND)) == "stopped\n"

"""A run of pytest under control ends as cheaply as its test allows."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay_dd.schedules.runtime.stdlib.test_runners import adapt_hypothesis_telling, adapt_pytest_ending
from tests.runtime.programs import output_of, run_program

# A test that leaves garbage behind, whose finalizer fails; pytest looks for that at its end.
LEAVES_GARBAGE = """
    import gc, os, sys, threading
    import pytest
    class Node:
        def __del__(self):
            raise ValueError("seen at the end")
    def collections():
        return gc.get_stats()[2]["collections"]
    def test_it():
        thread = threading.Thread(target=str)
        thread.start(); thread.join()
        node = Node()
        node.itself = node
        sys.before = collections()
    if __name__ == "__main__":
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-c", os.devnull, "-W", "error"]
        try:
            pytest.main([__file__, *options])
        except pytest.PytestUnraisableExceptionWarning:
            print("found in", collections() - sys.before)
"""


@pytest.mark.once
def test_a_finalizer_that_fails_is_found_without_a_look_at_all_objects(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, LEAVES_GARBAGE)).endswith("found in 0\n")


@pytest.mark.once
@pytest.mark.parametrize(
    ("counting", "collects", "iterations", "looked"),
    [
        (True, True, 5, [("since the first thread", 1)]),
        (True, True, 0, [("all", 0)]),
        (False, True, 5, [("all", 5)]),  # no thread was started
        (True, False, 5, [("all", 5)]),  # the automatic collector decides what is old
    ],
)
def test_pytest_looks_for_garbage_among_what_the_run_has_made(
    counting: bool, collects: bool, iterations: int, looked: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[str, int]] = []
    module = SimpleNamespace(gc_collect_harder=lambda number: found.append(("all", number)))
    scheduler = SimpleNamespace(counting=counting, collects=collects)
    adapt_pytest_ending(scheduler, module)  # type: ignore[arg-type]  # all that is used of it
    monkeypatch.setattr(gc, "collect", lambda generation: found.append(("since the first thread", generation)))
    module.gc_collect_harder(iterations)
    assert found == looked


@pytest.mark.once
def test_hypothesis_is_not_imported_to_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    module = SimpleNamespace(pytest_terminal_summary=told.append)
    adapt_hypothesis_telling(module)
    monkeypatch.delitem(sys.modules, "hypothesis", raising=False)
    module.pytest_terminal_summary("not used")
    monkeypatch.setitem(sys.modules, "hypothesis", SimpleNamespace())
    module.pytest_terminal_summary("used")
    assert told == ["used"]

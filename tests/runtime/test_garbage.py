"""What is garbage before the first thread does not decide what comes after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from tests.runtime.programs import output_of, run_program

# Its arguments: how much more it makes before its first thread, as a suite of many tests does; whether it collects.
LEFT_BEHIND = """
    import gc, sys, threading, weakref
    class Node: pass
    def note():
        noted.append(len(noted))
    def leave_behind():
        for number in range(5):
            node = Node()
            node.itself = node
            weakref.finalize(node, note)
    noted, more = [], []
    gc.collect()
    leave_behind()
    more.extend({1: 2} for number in range(int(sys.argv[1])))
    if sys.argv[2] == "off": gc.disable()
    thread = threading.Thread(target=note)
    thread.start(); thread.join()
    print(len(noted), gc.isenabled())
"""


@pytest.mark.parametrize("granularity", ["access", "line"])
def test_garbage_of_before_is_collected(granularity: str, tmp_path: Path) -> None:
    runs = [
        run_program(tmp_path, LEFT_BEHIND, arguments=(more, "on"), settings=Settings(granularity=granularity))
        for more in ("0", "20000")
    ]
    assert [output_of(run) for run in runs] == ["6 True\n"] * 2
    first, second = (run.log.ending for run in runs)
    assert (first.thread_times, first.digest) == (second.thread_times, second.digest)


def test_who_switches_collection_off_keeps_garbage(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, LEFT_BEHIND, arguments=("0", "off"))) == "1 False\n"


# Its argument: what a finalizer does to the filters of warnings.
UNCLOSED = """
    import sys, threading, warnings
    class Node:
        def __del__(self):
            if sys.argv[1] == "reset": warnings.resetwarnings()
    def leave_behind():
        node = Node()
        node.itself, node.file = node, open(__file__)
    warnings.simplefilter("error")
    complaints = []
    sys.unraisablehook = complaints.append
    leave_behind()
    before = warnings.filters[:]
    thread = threading.Thread(target=str)
    thread.start(); thread.join()
    print(len(complaints), warnings.filters == before, len(warnings.filters))
"""


def test_nobody_is_warned_of_what_was_left_behind(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, UNCLOSED, arguments=("keep",))).startswith("0 True ")


def test_a_finalizer_may_reset_the_filters_of_warnings(tmp_path: Path) -> None:
    assert output_of(run_program(tmp_path, UNCLOSED, arguments=("reset",))).endswith(" False 0\n")

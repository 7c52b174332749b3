"""What `make quick` leaves out."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import cast

import pytest

from tests.conftest import PROJECT, is_left_out_by_quick, pytest_ignore_collect
from tools.slow_tests import ROOMS_LEFT_OUT, listed, slow

REPORT = """\
...........
============================= slowest durations =============================
1.60s call     tests/runtime/test_tls.py::test_slow[a b]
0.10s setup    tests/runtime/test_tls.py::test_slow[a b]
0.90s call     tests/runtime/test_tls.py::test_slow[c::d/e]
1.90s call     tests/runtime/test_tls.py::test_quick
2.10s call     test_above.py::TestClass::test_slow_too
"""


def test_the_seconds_of_all_parameters_count_together() -> None:
    assert slow(REPORT.splitlines(), 2.0) == ["test_slow", "test_slow_too"]


@pytest.mark.once
def test_quick_leaves_out_what_is_listed() -> None:
    rooms_here = [f"tests/{room}" for room in ("bisect", "dd", "web")]
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *rooms_here]
    all_tests, quick_tests = (
        set(subprocess.run(command + more, cwd=PROJECT, capture_output=True, text=True, check=True).stdout.splitlines())
        for more in ([], ["--quick"])
    )
    left_out = {name for name in all_tests - quick_tests if "::" in name}
    rooms = tuple(f"tests/{room}/" for room in ROOMS_LEFT_OUT)
    for name in left_out:
        assert name.startswith(rooms) or function_of(name) in listed(), name
    assert not [name for name in quick_tests if name.startswith(rooms)]
    assert not [name for name in quick_tests if function_of(name) in listed()]
    assert any(name.startswith("tests/dd/") for name in quick_tests)
    assert any(name.startswith("tests/web/") for name in left_out)
    assert any(name.startswith("tests/bisect/") for name in left_out)


@pytest.mark.parametrize(
    ("room", "name", "is_left_out"),
    [
        ("dd", "test_slow[a]", True),
        ("dd", "test_other", False),
        ("runtime", "test_slow[a]", False),
        ("web", "test_other", True),
    ],
)
def test_a_room_of_which_the_quick_tests_are_not_enough_keeps_the_slow_ones(
    room: str, name: str, is_left_out: bool
) -> None:
    item = cast("pytest.Item", SimpleNamespace(path=PROJECT / "tests" / room / "test_x.py", name=name))
    assert is_left_out_by_quick(item, {"test_slow"}, ["runtime"]) is is_left_out


@pytest.mark.parametrize(("room", "quick", "ignored"), [("web", True, True), ("web", False, None), ("dd", True, None)])
def test_rooms_that_are_left_out_are_not_imported(room: str, quick: bool, ignored: bool | None) -> None:
    config = cast("pytest.Config", SimpleNamespace(getoption=lambda name: {"--quick": quick}[name]))
    assert pytest_ignore_collect(PROJECT / "tests" / room, config) is ignored


def function_of(name: str) -> str:
    return name.partition("[")[0].rpartition("::")[2]

"""What `make quick` leaves out."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import PROJECT
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


def test_quick_leaves_out_what_is_listed() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", "tests"]
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
    # A slow test that has got another name is called so in the list, too.
    assert not listed() - {function_of(name) for name in all_tests}


def function_of(name: str) -> str:
    return name.partition("[")[0].rpartition("::")[2]

from __future__ import annotations

import shlex

import pytest

from replay_dd.pytest_plugin.command_line import environment_of, without_choices


@pytest.mark.parametrize(
    "given, kept",
    [
        ("tests/unit -p no:randomly -W error", "-p no:randomly -W error"),
        ("--replay-dd --replay-dd=50 --replay-dd-on-failure --replay-dd-total 10m", ""),
        ("-n 4 -n4 --numprocesses=auto --dist loadfile", ""),
        ("-k one -kone -m slow --deselect a::b --maxfail=3", ""),
        ("--junitxml=out.xml --junit-xml out.xml --report-log x", ""),
        ("--cov --cov=pkg --cov-report term", ""),
        ("--replay-dd 20 --cov pkg tests/unit --color no -r fE -W error", "-W error"),
        ("--cov tests/unit", ""),
        ("-v -vv -q -rA --debug notes.txt --debug", ""),
        ("--import-mode=importlib --rootdir here -c other.ini -o a=b", "--import-mode=importlib -c other.ini -o a=b"),
    ],
)
def test_options_that_say_how_tests_run_are_kept(given: str, kept: str) -> None:
    assert without_choices(shlex.split(given), ["tests/unit"]) == shlex.split(kept)


def test_the_environment_of_a_hunt_knows_nothing_of_the_outer_run() -> None:
    outer = {
        "A": "1",
        "PYTEST_CURRENT_TEST": "x",
        "PYTEST_DEBUG_TEMPROOT": "/temporary",
        "PYTEST_XDIST_WORKER": "gw0",
        "PYTEST_ADDOPTS": "--replay-dd=5 -W error",
    }
    assert environment_of(outer) == {"A": "1", "PYTEST_ADDOPTS": "-W error"}

"""Which tests each Python gets: tools/test_all_pythons.py."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import pytest

from tests.conftest import TESTED_UNDER, is_done_once
from tools.environments import FREE_THREADED, SUPPORTED
from tools.test_all_pythons import (
    NEWEST,
    QUICK,
    QUICK_RUNTIME,
    QUICK_SCHEDULES,
    Prepared,
    is_newest,
    selection_of,
)

pytestmark = pytest.mark.once


def preparing(*prepared: str, unknown: tuple[str, ...] = ()) -> dict[str, Future[Prepared | str]]:
    """Pythons that are prepared, or cannot be had; those that are unknown are still being prepared."""
    futures: dict[str, Future[Prepared | str]] = {one: Future() for one in (*SUPPORTED, *FREE_THREADED, "3.99")}
    for version, future in futures.items():
        if version not in unknown:
            place = Path()
            future.set_result(Prepared(version, place, place, place) if version in prepared else "not to be had")
    return futures


def selections(futures: dict[str, Future[Prepared | str]], *versions: str) -> list[tuple[str, ...]]:
    return [selection_of(version, is_newest(version, futures)) for version in versions]


def test_the_newest_python_that_is_there_gets_more_tests() -> None:
    futures = preparing("3.11", "3.12", "3.14", "3.13t", "3.99")
    assert selections(futures, "3.12", "3.14", "3.13t", "3.99") == [QUICK, NEWEST, QUICK_SCHEDULES, QUICK]
    assert selections(preparing(*SUPPORTED, *FREE_THREADED), "3.14", "3.15", "3.13t") == [QUICK, NEWEST, QUICK_RUNTIME]


def test_a_python_waits_for_the_preparation_of_the_next_one_only() -> None:
    futures = preparing("3.12", "3.13", unknown=("3.14", "3.15", *FREE_THREADED))
    assert selections(futures, "3.12") == [QUICK]


@pytest.mark.parametrize("under", ["", "3.11"])
@pytest.mark.parametrize("quick", [[], ["--quick"]])
def test_files_of_tests_that_are_done_once_are_not_even_imported_by_the_other_pythons(
    under: str, quick: list[str], project: Path
) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "tests/tools", *quick]
    variables = {**os.environ, TESTED_UNDER: under}
    done = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    collected = {line.partition("::")[0].rpartition("/")[2] for line in done.stdout.splitlines() if "::" in line}
    # All tests of the one are done once, some of the other.
    assert {"test_get_pythons.py", "test_mutants.py"} & collected == {"test_mutants.py"} | (
        set() if under else {"test_get_pythons.py"}
    )


@pytest.mark.parametrize(
    ("text", "once"),
    [
        ("import pytest\n\npytestmark = pytest.mark.once\n\n", True),
        ("import pytest\n\npytestmark = [pytest.mark.once, pytest.mark.needs_python('3.12')]\n", False),
        ("import pytest\n\n\n@pytest.mark.once\ndef test_it(): ...\n", False),
    ],
)
def test_a_file_is_done_once_if_all_its_tests_are(text: str, once: bool, tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text)
    assert is_done_once(path) == once
    assert not is_done_once(tmp_path)

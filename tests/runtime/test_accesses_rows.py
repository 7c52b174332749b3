"""Rows that a writer of ``csv`` puts into its stream."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.runtime.accesses.rows import rows_written
from tests.runtime.programs import accesses_of_thread

pytestmark = pytest.mark.once

PROGRAM = """
    import csv, io, threading

    class Null:
        def write(self, text):
            pass

    def work():
        table.writerow(["tea", 3])
        table.writerows([["milk", 1], ["cream", 2]])
        named.writeheader()
        named.writerow({"name": "tea"})
        own.writerow(["tea", 3])

    memory = io.StringIO()
    with open("table.csv", "w") as file:
        table, named, own = csv.writer(file), csv.DictWriter(memory, ["name"]), csv.writer(Null())
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    found = accesses_of_thread(tmp_path_factory.mktemp("work"), PROGRAM)
    return [one for one in found if one.detail.startswith("write")]


def test_rows_are_written_to_the_file_or_stream_of_the_writer(seen: list[Access]) -> None:
    told = [(one.thing[0], one.name, one.detail) for one in seen]
    assert told == [
        ("file", "table.csv", "writerow()"),
        ("file", "table.csv", "writerows()"),
        ("object", "named", "writeheader()"),
        ("object", "named", "writerow()"),
    ]
    assert all(one.writes and not one.reads for one in seen)
    assert seen[2].thing == seen[3].thing


def test_only_what_a_writer_of_the_library_writes_to_a_stream_of_the_library_is_told(tmp_path: Path) -> None:
    class Null:
        def write(self, text: str) -> None:
            pass

    assert rows_written(csv.writer(Null()), "writerow", "") is None
    assert rows_written(csv.writer(io.StringIO()), "dialect", "") is None
    lines: list[Any] = []
    assert rows_written(csv.reader(lines), "writerow", "") is None
    assert rows_written(csv.DictReader(lines), "writerow", "") is None

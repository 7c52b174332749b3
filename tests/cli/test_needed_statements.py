"""``schedules --slice``: the statements that an isolated failure needs."""

from __future__ import annotations

import json

import pytest

from tests.cli.tool import Workshop

pytestmark = pytest.mark.once

PROGRAM = """\
import threading

count, seen = 0, []


def add(name):
    global count
    before = count
    seen.append(name)
    count = before + 1


threads = [threading.Thread(target=add, args=(n,)) for n in "ab"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(seen)
if count < 2:
    raise ValueError(count)
"""
NEEDED = [1, 3, 6, 7, 8, 10, 13, 14, 15, 19, 20]


def test_a_failure_without_what_it_does_not_need(shop: Workshop) -> None:
    shop.write(PROGRAM)
    assert shop.run("hunt", "--jobs", "1", *shop.program()).status == 0
    options = ("--slice", "--experiments", "0", "--jobs", "2")
    done = shop.run("schedules", *options, "--json", "pass.log", "fail.log")
    assert done.status == 0, done.stderr
    told = json.loads(done.stdout)
    found, cost = told["answer"]["needed_statements"], told["answer"]["cost"]
    assert cost["started"] >= 6, "the proof at least"
    assert cost["started"] + cost["forked"] > told["tests"]["runs"] + told["answer"]["more_tests"]["ranges"]
    assert cost["processor_seconds"] > 0
    lines = [one["line"] for one in found["needed"]]
    # Both threads have ended before the count is read, or the main thread waits for them at `join`.
    assert [line for line in lines if line not in (16, 17)] == NEEDED
    assert (found["statements"], found["verified"]) == (15, True)
    assert [path.read_text() for path in shop.folder.glob("*.py")] == [PROGRAM]

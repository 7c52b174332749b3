"""Where an exception took along a permit: told with the line, and what would help; no lock is tried against it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.report.story import story_as_text
from replay_dd.schedules.experiments.experiments import Budget, with_experiments
from replay_dd.schedules.hang import HangFrame
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import describe_program
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.explain import explain
from replay_dd.schedules.story.way_out import WayOut, decides_to_release, returns_in_one_way

LENT = """\
import threading


class Closed(Exception):
    pass


class Pool:
    def __init__(self):
        self.permits = threading.Semaphore(1)
        self.lock = threading.Lock()
        self.closed = False

    def borrow(self):
        self.permits.acquire()
        with self.lock:
            if self.closed:
                raise Closed
            return "a connection"

    def give_back(self):
        self.permits.release()

    def renew(self):
        with self.lock:
            self.closed = True
        with self.lock:
            self.closed = False


def work(pool):
    for _ in range(2):
        try:
            pool.borrow()
        except Closed:
            continue
        pool.give_back()


pool = Pool()
threads = [threading.Thread(target=work, args=(pool,)) for _ in range(2)]
threads.append(threading.Thread(target=pool.renew))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
CLOSED = LENT.replace("        with self.lock:\n            self.closed = False\n", "")
RETURNED = LENT.replace("raise Closed", "return None").replace("except Closed:", "except AttributeError:")
RETURNED = RETURNED.replace("            pool.borrow()\n", "            pool.borrow().strip()\n")
# Two handlers raise it again, and one has handled something else before.
PASSED_ON = LENT.replace(
    """        with self.lock:
            if self.closed:
                raise Closed
            return "a connection"
""",
    """        try:
            name = {}["a connection"]
        except KeyError:
            name = "a connection"
        with self.lock:
            with self.other:
                self.check()
        return name

    def check(self):
        if self.closed:
            raise Closed
""",
).replace("        self.closed = False\n", "        self.closed, self.other = False, threading.Lock()\n", 1)
ONE_WAY = LENT.replace(
    """        with self.lock:
            if self.closed:
                raise Closed
            return "a connection"
""",
    """        return "a connection"
""",
).replace(
    "            pool.borrow()\n",
    "            pool.borrow()\n            if pool.closed:\n                raise Closed\n",
)
OWN = LENT.replace(
    '            return "a connection"\n', '            size = len("a connection")\n        self.permits.release()\n'
).replace("        pool.give_back()\n", "        print()\n")


def told(text: str, folder: Path) -> str:
    """The story of a program, and what was tried."""
    (folder / "prog.py").write_text(text)
    found = hunt(describe_program(("python", "prog.py"), directory=folder), Settings(), HuntOptions(runs=300))
    assert found.passing is not None
    assert found.failing is not None
    isolation = isolate(found.passing, found.failing)
    explanation = explain(isolation)
    assert explanation.story is not None, explanation.why_not
    assert explanation.story.kind == kinds.LEAKED_PERMIT
    explanation = with_experiments(explanation, isolation, budget=Budget(5, None))
    lines = [*story_as_text(explanation, found.failing.program)]
    return " ".join(" ".join(lines).split())


@pytest.mark.once
def test_an_exception_that_takes_a_permit_along_is_told(tmp_path: Path) -> None:
    text = told(LENT, tmp_path)
    assert "took one at prog.py:15 in Pool.borrow, left that function by an exception (prog.py:18)" in text
    assert "release pool.permits also when an exception leaves Pool.borrow with a permit" in text
    assert "permit never released after a torn update" in text
    assert "taking self.lock at prog.py:25-28" in text  # not where it is taken already


@pytest.mark.once
def test_no_lock_gives_a_permit_back(tmp_path: Path) -> None:
    text = told(CLOSED, tmp_path)
    assert "release pool.permits also when an exception leaves Pool.borrow with a permit" in text
    assert "tried nothing: no lock and no order gives back the permit" in text
    assert "torn read" not in text  # a permit has no value that belongs to the flag


@pytest.mark.once
def test_a_function_that_releases_itself_shall_do_so_finally(tmp_path: Path) -> None:
    text = told(OWN, tmp_path)
    assert "left that function by an exception (prog.py:18)" in text
    assert "`with pool.permits:` or `finally:`" in text


@pytest.mark.once
def test_a_return_that_takes_a_permit_along_is_told(tmp_path: Path) -> None:
    text = told(RETURNED, tmp_path)
    assert "took one at prog.py:15 in Pool.borrow, returned (prog.py:18)" in text
    assert "release pool.permits before Pool.borrow returns at prog.py:18" in text


@pytest.mark.once
def test_an_exception_is_followed_back_through_what_raises_it_again(tmp_path: Path) -> None:
    text = told(PASSED_ON, tmp_path)
    assert "took one at prog.py:15 in Pool.borrow, left that function by an exception (prog.py:22)" in text


@pytest.mark.once
def test_a_function_that_always_hands_on_its_permit_leaves_it_to_its_caller(tmp_path: Path) -> None:
    text = told(ONE_WAY, tmp_path)
    assert "took one at prog.py:15 in Pool.borrow, returned (prog.py:16)" in text
    assert "release pool.permits on every way out of what calls Pool.borrow" in text


@pytest.mark.parametrize(
    ("body", "one_way"),
    [
        ("take()", True),
        ("return take()", True),
        ("with lock:\n        return take()", True),
        ("if take():\n        return 1", False),
        ("if take():\n        return 1\n    return 2", False),
        ("def inner():\n        return 1\n    take()", True),
    ],
)
def test_ways_to_return(body: str, one_way: bool, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(f"def borrow():\n    {body}\n")
    assert returns_in_one_way(HangFrame("prog.py", str(tmp_path / "prog.py"), 1, "borrow", True)) is one_way


def test_where_a_function_decides_whether_it_releases(tmp_path: Path) -> None:
    lines = ["def leave():", "    permits.acquire()", "    if count == 0:", "        permits.release()", "    note()"]
    (tmp_path / "prog.py").write_text("\n".join(lines) + "\n")
    place = HangFrame("prog.py", str(tmp_path / "prog.py"), 2, "leave", True)
    assert decides_to_release(place, WayOut("prog.py", 3, raised=False))
    assert not decides_to_release(place, WayOut("prog.py", 5, raised=False))
    assert not decides_to_release(
        HangFrame("gone.py", "/gone.py", 2, "leave", True), WayOut("gone.py", 3, raised=False)
    )

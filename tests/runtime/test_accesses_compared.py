"""Who compares a container looks at all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.runtime.accesses.compared import is_compared
from replay_dd.schedules.runtime.compat import NAMES
from replay_dd.schedules.runtime.points.bytecode import instructions
from tests.runtime.programs import run_program
from tests.runtime.test_accesses_library import ALL

PROGRAM = """
    import threading

    class Shop:
        def __init__(self):
            self.sold = []

    def work(local):
        shop.sold.append("tea")
        assert shop.sold == ["tea"]
        assert {"a": 1} != prices
        rewritten = shop.sold
        wanted = ["tea", *local]
        same = rewritten == wanted
        shop.sold is local
        local == ["tea"]
        shop.sold == shop
        threading

    shop, prices = Shop(), {"a": 2}
    thread = threading.Thread(target=work, args=([],))
    thread.start()
    thread.join()
"""


def test_who_compares_a_container_looks_at_all_of_it(tmp_path: Path) -> None:
    run = run_program(tmp_path, PROGRAM, ALL)
    assert (run.log.ending.status, run.output) == (0, b"")
    looks = [one for one in run.accesses.accesses if one.thing[0] == "whole" and one.does == "reads"]
    assert [(one.name, one.place.line, one.old.text) for one in looks] == [
        ("Shop.sold", 10, "list of 1"),
        ("prices", 11, "dict of 1"),
        ("Shop.sold", 12, "list of 1"),
        ("local", 16, "[]"),
    ]


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("box.rows == [1, 2]", True),
        ("[1, 2] == box.rows", True),
        ("box.rows == {'a': 1, 'b': 2}", True),
        ("rows = box.rows; rows == [1]", True),
        ("rows = box.rows; other = [1]; same = rows == other", True),
        ("rows = box.rows; rows = [1]; rows == [2]", False),
        ("rows = box.rows; [rows] == [[1]]", False),
        ("box.rows, 1 == 2", False),
        ("box.rows is None", False),
        ("box.rows == len", False),  # somebody may come between
        ("box.rows.sort() == [1]", False),
        ("return box.rows", False),
    ],
)
def test_what_is_compared_before_the_next_yield_point(text: str, compared: bool) -> None:
    names: dict[str, object] = {}
    exec(f"def work(box):\n    {text}", names)
    listing = instructions(names["work"].__code__)  # type: ignore[attr-defined]
    loads = next(number for number, one in enumerate(listing) if NAMES[one[1]] in ("LOAD_ATTR", "LOAD_METHOD"))
    assert is_compared(listing, loads + 1) is compared

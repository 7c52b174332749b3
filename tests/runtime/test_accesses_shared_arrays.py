"""Arrays that ``ctypes`` keeps: what an observed run tells of their items."""

from __future__ import annotations

import ctypes

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.runtime.accesses.shared_arrays import array_iterated, array_kept, element_kept
from replay_dd.schedules.runtime.accesses.values import MISSING, UNKNOWN
from tests.runtime.programs import accesses_of_thread

pytestmark = pytest.mark.once

PROGRAM = """
    import ctypes, multiprocessing, threading

    class Own(ctypes.c_int * 2):
        def __getitem__(self, index):
            return 7

    def work():
        counts[1] += 5
        counts[-1]
        raw[0] = 2.5
        sum(counts)
        for one in counts:
            break
        counts[0:2] = [8, 9]
        own[0]

    counts, raw, own = multiprocessing.Array("i", [1, 2, 3]), multiprocessing.RawArray("d", 2), Own()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    found = accesses_of_thread(tmp_path_factory.mktemp("work"), PROGRAM)
    return [one for one in found if one.thing[0] in ("item", "whole")]


def test_an_item_is_accessed_where_the_array_is_kept(seen: list[Access]) -> None:
    told = [(one.name, one.does, one.old.text, one.new.text) for one in seen if one.thing[0] == "item"]
    assert told == [
        ("counts[1]", "reads", "2", "?"),
        ("counts[1]", "stores", "2", "7"),
        ("counts[2]", "reads", "3", "?"),
        ("raw[0]", "stores", "0.0", "2.5"),
    ], "what classes of the program compute is seen in their own code"
    assert all(one.holder_type.startswith("c_") for one in seen)


def test_all_of_an_array_is_accessed_by_slices_loops_and_functions(seen: list[Access]) -> None:
    told = [(one.name, one.does) for one in seen if one.thing[0] == "whole"]
    assert list(dict.fromkeys(told)) == [("counts", "reads"), ("counts", "iterates"), ("counts", "stores")]
    store = next(one for one in seen if one.name == "counts[1]" and one.writes)
    assert all(one.conflicts(store) for one in seen if one.thing[0] == "whole")


def test_only_plain_values_of_items_that_are_there_are_told() -> None:
    class Level(ctypes.c_int):
        pass

    plain = (ctypes.c_int * 2)(4, 5)
    assert array_kept(plain) is plain
    assert array_kept([4, 5]) is None
    assert element_kept(plain, -2) == (0, 4)
    assert element_kept(plain, 2) == (2, MISSING)
    assert element_kept((Level * 2)(), 1) == (1, UNKNOWN)
    assert array_iterated(iter(plain)) is plain
    assert array_iterated(iter([4])) is None

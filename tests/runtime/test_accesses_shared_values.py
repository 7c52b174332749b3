"""Values that ``ctypes`` keeps: what an observed run tells of their attribute ``value``."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from tests.runtime.programs import accesses_of_thread

pytestmark = pytest.mark.once

PROGRAM = """
    import ctypes, multiprocessing, threading

    class Own(ctypes.c_int):
        @property
        def value(self):
            return 7

    class Gauge:
        @property
        def value(self):
            return 8

    def work():
        hits.value += 1
        raw.value = 5
        own.value, gauge.value, pair.value

    hits, raw = multiprocessing.Value("i", 2), multiprocessing.RawValue("d", 1.5)
    own, gauge, pair = Own(3), Gauge(), multiprocessing.Value("c", b"x")
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    found = accesses_of_thread(tmp_path_factory.mktemp("work"), PROGRAM)
    return [one for one in found if one.thing[2] == "value"]


def test_a_look_at_a_value_and_a_store_are_accesses_to_what_keeps_it(seen: list[Access]) -> None:
    told = [(one.name, one.does, one.old.text, one.new.text, one.holder_type) for one in seen]
    assert told == [
        ("hits.value", "reads", "2", "?", "c_int"),
        ("hits.value", "stores", "2", "3", "c_int"),
        ("raw.value", "stores", "1.5", "5", "c_double"),
        ("pair.value", "reads", "b'x'", "?", "c_char"),
    ], "what classes of the program compute is seen in their own code"
    assert seen[0].thing == seen[1].thing != seen[2].thing

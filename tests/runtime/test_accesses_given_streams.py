"""Streams that the standard library gets: what an observed run tells of what it does with them."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from tests.runtime.programs import accesses_of_thread

pytestmark = pytest.mark.once

PROGRAM = """
    import configparser, csv, io, json, pickle, pprint, shutil, threading

    class Null:
        def write(self, text):
            pass

    def work():
        json.dump({"a": 1}, file)
        json.dump([1], fp=memory)
        json.dump([1], Null())
        pprint.pprint([2], memory)
        options.write(file)
        pickle.dump([3], binary)
        pickler.dump([4])
        csv.writer(memory)
        with open("source.txt") as source, open("copy.txt", "w") as copy:
            shutil.copyfileobj(source, copy)
            json.load(source)

    with open("source.txt", "w") as source:
        source.write("[]")
    memory, binary, options = io.StringIO(), io.BytesIO(), configparser.ConfigParser()
    pickler = pickle.Pickler(binary)
    with open("out.txt", "w") as file:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    found = accesses_of_thread(tmp_path_factory.mktemp("work"), PROGRAM)
    return [one for one in found if one.thing[0] in ("file", "object")]


def test_what_the_library_writes_is_told_of_the_stream(seen: list[Access]) -> None:
    told = [(one.thing[0], one.name, one.detail) for one in seen if one.writes and not one.reads]
    assert [one for one in told if not one[2].startswith(("open", "close", "shutdown"))] == [
        ("file", "out.txt", "dump()"),
        ("object", "memory", "dump()"),
        ("object", "memory", "pprint()"),
        ("file", "out.txt", "write()"),
        ("object", "binary", "dump()"),
        ("object", "pickler", "dump()"),
        ("file", "copy.txt", "copyfileobj()"),
    ], "what a stream of the program does is seen in its own code"


def test_what_the_library_reads_is_gone_for_others(seen: list[Access]) -> None:
    told = [(one.thing[0], one.name, one.writes) for one in seen if one.detail in ("copyfileobj()", "load()")]
    assert sorted(told) == [
        ("file", "copy.txt", True),
        *2 * [("file", "source.txt", False)],
        *2 * [("object", "source", True)],
    ]


def test_a_pickler_writes_to_the_stream_that_it_was_made_with(seen: list[Access]) -> None:
    of_pickle = [one for one in seen if one.name in ("binary", "pickler") and one.detail == "dump()"]
    assert [one.touches(of_pickle[0]) for one in of_pickle] == [True, True]

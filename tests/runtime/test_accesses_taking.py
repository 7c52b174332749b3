"""What one thread takes from a stream or an iterator is gone for the others: each take is told as such."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import run_program

pytestmark = pytest.mark.once

PROGRAM = """
    import io, itertools, multiprocessing, socket, threading

    class Letters:
        def __next__(self):
            return "a"

    def squares():
        yield 1

    def work():
        file.readline()
        file.tell()
        memory.read(1)
        memory.getvalue()
        stream.readline()
        right.recv(1)
        receiving.recv()
        receiving.poll()
        sending.send(2)
        next(rows)
        next(numbers)
        next(letters)
        next(generator)
        print("a", end="", file=written)
        print("b", file=None)
        print("c", file=Null())

    class Null:
        def write(self, text):
            pass

    written = io.StringIO()
    with open("list.txt", "w") as file:
        file.write("one\\n")
    left, right = socket.socketpair()
    left.sendall(b"line\\n.")
    receiving, sending = multiprocessing.Pipe(duplex=False)
    sending.send(1)
    memory, numbers, letters, generator = io.BytesIO(b"abc"), itertools.count(), Letters(), squares()
    values = [1, 2]
    rows = iter(values)
    with open("list.txt") as file, right.makefile("rb", buffering=0) as stream:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    left.close(), right.close(), receiving.close(), sending.close()
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    run = run_program(tmp_path_factory.mktemp("work"), PROGRAM, Plan(observed={"": (0, 1 << 62)}))
    assert run.log.ending.status == 0, run.output
    return [one for one in run.accesses.accesses if one.thread == "0.1"]


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        *[("file", "readline()"), ("memory", "read()"), ("stream", "readline()"), ("right", "recv()")],
        *[("receiving", "recv()"), ("sending", "send(2)"), ("rows", "next()"), ("numbers", "next()")],
        ("generator", "next()"),
    ],
)
def test_to_take_what_comes_next_changes_it_for_the_others(name: str, detail: str, seen: list[Access]) -> None:
    (taken,) = [one for one in seen if one.name == name and one.thing[0] == "object" and one.detail == detail]
    assert (taken.does, taken.reads, taken.writes) == ("calls", True, True)


@pytest.mark.parametrize("detail", ["getvalue()", "poll()"])
def test_only_to_look_changes_nothing(detail: str, seen: list[Access]) -> None:
    (look,) = [one for one in seen if one.detail == detail]
    assert (look.reads, look.writes) == (True, False)


def test_who_reads_on_in_a_file_still_reads_the_file(seen: list[Access]) -> None:
    of_content = [(one.detail, one.writes) for one in seen if one.thing[0] == "file"]
    assert of_content == [("readline()", False), ("tell()", False)]


def test_the_next_of_an_iterator_is_also_a_look_at_what_it_goes_through(seen: list[Access]) -> None:
    assert [one.name for one in seen if one.does == "iterates"] == ["rows"]


def test_iterators_of_the_program_tell_what_they_do_in_their_own_code(seen: list[Access]) -> None:
    assert not [one for one in seen if one.name == "letters" and one.detail]


def test_who_prints_to_a_stream_writes_to_it(seen: list[Access]) -> None:
    printed = [one for one in seen if one.detail == "print()"]
    assert [(one.name, one.reads, one.writes) for one in printed] == [("written", False, True)]
    assert [one.name for one in seen if one.name.endswith("stdout")] == ["sys.stdout"]

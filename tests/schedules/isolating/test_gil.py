"""Where the GIL lets threads switch: what real threads did, told from one run."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest

from replay_dd.schedules.isolating.gil import (
    AT_FIRST,
    CALLED,
    ENTERED,
    JUMPED,
    LIBRARY,
    OPERATION,
    gil_answer,
    gil_positions,
)
from replay_dd.schedules.model import Place, Settings
from replay_dd.schedules.observed.executed import Executed, ExecutedRun
from replay_dd.schedules.running.target import Plan, describe_program, run_target
from tests.schedules.logs import PLACE

HELPERS = """\
import functools
import threading
import time


class Shared:
    v = 0
    other = 0


s, lock, numbers, one = Shared(), threading.Lock(), [1], (1,)


def empty(): return 1
def other(a=1): return s.other
def get(): return s.v
def get_for(key): return s.v
def numbered():
    yield 1
    yield 2
def values():
    while True: yield s.v


class Thing:
    def get(self): return s.v
    @property
    def found(self): return s.v
    def __getitem__(self, index): return s.v
    def __call__(self): return s.v
    def __enter__(self): return s.v
    def __exit__(self, *exception): s.other


class Plain: pass
class Read:
    def __init__(self): self.t = s.v
class Made:
    def __new__(cls): return s.v


thing, partial, stream = Thing(), functools.partial(get), values()


def no(): return 0
"""
NEWEST, NEWER, NEW, MIDDLE = (sys.version_info >= (3, minor) for minor in (15, 14, 13, 12))
STORE = "s.v = t + 1"
# What stands between a read and a write of `s.v`, and why the interpreter can switch threads in between, if it can.
# Measured with real threads that switch every microsecond, 2 seconds each, under 3.11.7, 3.12.1 and 3.13.0, and 0.6
# seconds under 3.14.10 and 3.15.2 (there with PYTHON_JIT=1, too): lost updates in thousands, or none in 10^6 to 10^7
# tries. After AT_FIRST: none either, once the loop was warm.
CASES: dict[str, tuple[str, str]] = {
    "nothing": ("t = s.v; " + STORE, ""),
    "a call in C": ("t = s.v; abs(-1); " + STORE, CALLED),
    "a specialised len": ("t = s.v; len(numbers); " + STORE, AT_FIRST),
    "a specialised isinstance": ("t = s.v; isinstance(t, int); " + STORE, AT_FIRST),
    "a specialised type": ("t = s.v; type(t); " + STORE, AT_FIRST),
    "a specialised append": ("t = s.v; numbers.append(1); " + STORE, AT_FIRST),
    "an append that is used": ("t = s.v; x = numbers.append(1); " + STORE, AT_FIRST if NEWEST else CALLED),
    "a type with an argument": ("t = s.v; str(1); " + STORE, CALLED),
    "a class without __init__": ("t = s.v; Plain(); " + STORE, CALLED),
    "unpacked arguments": ("t = s.v; len(*(numbers,)); " + STORE, CALLED),
    "keywords": ("t = s.v; int('1', base=10); " + STORE, CALLED),
    "a function": ("t = s.v; empty(); " + STORE, ENTERED),
    "a function that reads": ("t = s.v; other(a=2); " + STORE, ENTERED),
    "a loop": ("t = s.v\nfor _ in one: pass\n" + STORE, JUMPED),
    "a loop without calls": ("t = s.v\ni = 0\nwhile i < 2: i += 1\n" + STORE, JUMPED),
    "a lock": ("t = s.v\nwith lock: pass\n" + STORE, CALLED),
    "entering a lock": ("t = s.v\nwith lock: " + STORE, CALLED if NEWER else ""),
    "a generator that goes on": ("t = s.v\nfor _ in numbered(): break\n" + STORE, ENTERED),
    "a generator that is made": ("t = s.v\nx = numbered()\n" + STORE, ""),
    "an f-string": ("t = s.v; f'{t}'; " + STORE, ""),
    "an import again": ("t = s.v; import threading; " + STORE, ""),
    "a sleep": ("t = s.v; time.sleep(0.001); " + STORE, OPERATION),
    "library code": ("t = s.v; functools.update_wrapper(no, no, (), ()); " + STORE, LIBRARY),
    "an exception": ("t = s.v\ntry: raise KeyError from None\nexcept KeyError: pass\n" + STORE, ""),
    "the other branch has a call": ("if s is None: abs(-1)\nelse:\n    t = s.v; " + STORE, ""),
    "the same branch has a call": ("if s is not None:\n    t = s.v; abs(-1); " + STORE, CALLED),
    # The read is the last thing that something else does.
    "a read in a function": ("t = get(); " + STORE, ""),
    "a read in a method": ("t = thing.get(); " + STORE, ""),
    "a read in a property": ("t = thing.found; " + STORE, ""),
    "a read in an item": ("t = thing[0]; " + STORE, ""),
    "a read in an object": ("t = thing(); " + STORE, CALLED),
    "a read in a constructor": ("t = Read(); t = 0; " + STORE, AT_FIRST if NEW else CALLED),
    "a read in __new__": ("t = Made(); " + STORE, CALLED),
    "a read through C": ("t = partial(); " + STORE, CALLED),
    "a read in a key function": ("max(one, key=get_for); t = 0; " + STORE, CALLED),
    "a read with unpacked arguments": ("t = get(*()); " + STORE, "" if MIDDLE else CALLED),
    "a read in a generator": ("for t in stream: break\n" + STORE, ""),
    "a read in next()": ("t = next(stream); " + STORE, CALLED),
    "a read on entering": ("with thing as t: " + STORE, ""),
}


def functions() -> str:
    text = "".join(
        f"def case_{number}():\n{textwrap.indent(body, '    ')}\n    return t\n\n"
        for number, (body, _) in enumerate(CASES.values())
    )
    return text + "def work():\n" + "".join(f"    case_{number}()\n" for number in range(len(CASES)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ExecutedRun:
    folder = tmp_path_factory.mktemp("gil")
    start = "thread = threading.Thread(target=work)\nthread.start()\nthread.join()\n"
    (folder / "prog.py").write_text(HELPERS + functions() + start)
    program = describe_program((sys.executable, "prog.py"), directory=folder)
    made = run_target(program, Settings(), Plan(executed=(0, 100_000)), time_limit_s=60)
    assert made.log.ending.status == 0, made.output
    assert made.log.ending.digest == run_target(program, Settings(), Plan(), time_limit_s=60).log.ending.digest
    return ExecutedRun(made.executed)


def text_at(place: Place) -> str:
    line = Path(place.path).read_text().splitlines()[place.line - 1]
    return line[place.column - 1 :]


@pytest.mark.parametrize("name", CASES)
def test_the_gil_allows_what_real_threads_did(name: str, run: ExecutedRun) -> None:
    number = list(CASES).index(name)
    thread = run.of("0.1")
    positions = gil_positions(thread)
    read = write = 0
    inside = False
    for one in thread:
        if one.counted and one.place.function == "work":
            inside = False
        if one.place.function == f"case_{number}":
            inside = True
        if inside and one.counted and text_at(one.place).startswith("s.v"):
            if one.place.instruction == "LOAD_ATTR":
                read = one.time
            elif one.place.instruction == "STORE_ATTR" and one.place.function == f"case_{number}":
                write = one.time
    assert 0 < read < write
    answer = gil_answer(positions, read + 1, write)
    assert answer.positions == write - read
    reasons = {why for _, _, why in answer.possible}
    assert reasons == {CASES[name][1]} - {""}
    assert answer.reachable is bool(CASES[name][1])


# -- instructions made by hand ---------------------------------------------------------------------------------------


def made(
    *steps: tuple[int, int, str], access: Sequence[int] = (), frame: Sequence[int] = (), looks: str = ""
) -> list[Executed]:
    """Instructions: thread time, which of its function, and how it checks."""
    found = []
    time = 0
    for number, (at, index, check) in enumerate(steps):
        counted, time = at > time, at
        found.append(
            Executed(
                *("0.1", at, at, PLACE, frame[number] if frame else 1, index, check, number in access, counted),
                looks=looks if check == "call" else "",
            )
        )
    return found


def test_what_came_before_the_first_instruction_is_unknown() -> None:
    positions = gil_positions(made((1, 5, ""), (2, 6, ""), access=(0, 1)))
    assert positions == {2: (PLACE, "")}
    answer = gil_answer(positions, 1, 1)
    assert answer.reachable is None
    assert gil_answer(positions, 1, 2).reachable is False


def test_a_jump_counts_only_where_it_is_taken() -> None:
    taken = gil_positions(made((1, 5, ""), (1, 6, "jump"), (2, 5, ""), access=(0, 2)))
    assert taken[2][1] == JUMPED
    not_taken = gil_positions(made((1, 5, ""), (1, 6, "jump"), (2, 7, ""), access=(0, 2)))
    assert not_taken[2][1] == ""


def test_an_exception_leaves_a_call_without_a_look() -> None:
    after = made((1, 5, "call"), (2, 9, ""), access=(0, 1), looks="always")
    assert gil_positions(after)[2][1] == ""
    returned = made((1, 5, "call"), (2, 6, ""), access=(0, 1), looks="always")
    assert gil_positions(returned)[2][1] == CALLED


def test_an_access_ends_what_was_possible() -> None:
    steps = made((1, 5, ""), (1, 6, "jump"), (2, 5, ""), (3, 6, ""), access=(0, 2, 3))
    assert [why for _, why in gil_positions(steps).values()] == [JUMPED, ""]


def test_the_label_says_where_an_answer_can_happen() -> None:
    reasons = {1: "", 2: AT_FIRST, 3: CALLED}
    positions = {time: (PLACE, why) for time, why in reasons.items()}
    assert gil_answer(positions, 1, 1).label == "only without the GIL"
    assert gil_answer(positions, 1, 2).label == "only before specialisation"
    assert gil_answer(positions, 1, 3).label == gil_answer(positions, 3, 3).label == "with the GIL"
    assert gil_answer(positions, 4, 9).label is None

"""Stories in words: what guards a thing, the way to each step, and what is not known."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.report.chain import chain_as_text
from replay_dd.report.page.story import _turn as turn_on_the_page
from replay_dd.report.story import _turn as turn_as_text
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.model import Place, Settings
from replay_dd.schedules.observed.observation import Access, Observation, StackFrame, Value
from replay_dd.schedules.running.target import describe_program
from replay_dd.schedules.story.chain import Chain, ChainStep, _Search
from replay_dd.schedules.story.dependences import Node
from replay_dd.schedules.story.explain import explain
from replay_dd.schedules.story.locks import locks_in_words
from replay_dd.schedules.story.story import Step, Turn
from replay_dd.schedules.story.words import Letters
from tests.report.observed import UNKNOWN, access, value
from tests.schedules.logs import log_of

pytestmark = pytest.mark.once

LOCKS = {9: "Agenda._lock"}
PROGRAM = log_of([]).program


def inside(function: str, number: int, **more: Any) -> Access:
    place = Place("prog.py", "prog.py", number, 1, function, "LOAD_GLOBAL", True)
    stack = (
        StackFrame("prog.py", "prog.py", number, function, True),
        StackFrame("prog.py", "prog.py", 90, "run", True),
    )
    return access(number, "0.1", "reads", "3", place=place, stack=stack, **more)


def guards(*others: Access, passing: tuple[Access, ...] = ()) -> list[str]:
    step = inside("drop", 1)
    return list(locks_in_words(Observation((step, *others), LOCKS), Observation(passing, LOCKS), [step]))


def test_a_lock_held_while_an_object_is_made_guards_nothing() -> None:
    none = "none held at any of these accesses"
    assert guards(inside("Agenda.__init__", 5, held=(9,))) == [none]
    assert guards(inside("Agenda.add", 6, held=(9,))) == [none, "Agenda._lock guards it at prog.py:6"]


def test_a_file_elsewhere_has_its_name_there_as_in_the_rest_of_a_story() -> None:
    step = inside("add", 6, held=(9,))
    step = step._replace(place=replace(step.place, file="/elsewhere/prog.py"))
    held, *_ = locks_in_words(Observation((step,), LOCKS), Observation((), LOCKS), [step])
    assert held == "thread 0.1 holds Agenda._lock at prog.py:6"


def test_two_locks_of_one_name_are_told() -> None:
    steps = [inside("add", number, held=(number,)) for number in (6, 7)]
    twins = "Keyed.lock is the name of 2 locks here: who has one does not keep out who has another"
    nothing = "no lock is common to them"
    for names, told in ((("Keyed.lock", "Keyed.lock"), twins), (("Keyed.lock", "Keyed.other"), nothing)):
        locks = dict(zip((6, 7), names, strict=True))
        *_, last = locks_in_words(Observation(tuple(steps), locks), Observation((), locks), steps)
        assert last == told


def test_a_lock_guards_a_thing_whatever_its_name_is_there() -> None:
    """The same object has the same number in one run; in another one, it may be any."""
    renamed = inside("Agenda.add", 6, held=(9,), name="events")
    assert guards(renamed)[1:] == ["Agenda._lock guards it at prog.py:6"]
    assert guards(passing=(renamed,))[1:] == []


def test_things_without_a_name_are_not_the_same_for_their_type() -> None:
    for sort, name in (("whole", "dict"), ("item", "dict['a']")):
        step = inside("drop", 1, thing=(sort, 1, ""), name=name, holder_type="dict")
        other = inside("Agenda.add", 6, held=(9,), thing=(sort, 2, ""), name=name, holder_type="dict")
        same = other._replace(thing=step.thing)
        for seen, count in ((other, 0), (same, 1)):
            told = list(locks_in_words(Observation((step, seen), LOCKS), Observation((), LOCKS), [step]))
            assert len(told) == 1 + count


def test_each_function_has_its_own_path() -> None:
    steps = [Step((inside(*at),), "reads 3") for at in (("add", 1), ("add", 2), ("total", 3), ("add", 4))]
    turn = Turn("0.1", tuple(reversed(steps[0].access.stack)), tuple(steps))
    heads = [line.strip() for line in turn_as_text(turn, PROGRAM) if "thread 0.1" in line]
    assert heads == [f"thread 0.1  prog.py:90 > {function}" for function in ("add", "total", "add")]
    comprehension = inside("add.<locals>.<dictcomp>", 5)
    comprehension = comprehension._replace(stack=(comprehension.stack[0], *steps[0].access.stack))
    turn = turn._replace(steps=(steps[0], Step((comprehension,), "reads 3")))
    assert sum("thread 0.1" in line for line in turn_as_text(turn, PROGRAM)) == 1
    turn = turn._replace(steps=tuple(steps))
    page = str(turn_on_the_page(turn, PROGRAM))
    assert [page.count(f"in run &gt; {function}") for function in ("add", "total")] == [2, 1]


def test_a_long_path_is_told_without_a_count_of_what_may_be_cut_off() -> None:
    step = inside("last", 1)
    top, below = step.stack
    deep = step._replace(stack=(top, *(below._replace(function=f"f{depth}") for depth in range(60))))
    turn = Turn("0.1", tuple(reversed(deep.stack)), (Step((deep,), "reads 3"),))
    assert next(iter(turn_as_text(turn, PROGRAM))) == "  thread 0.1  prog.py:90 > ... > f1 > f0 > last"


def test_no_question_mark_stands_for_a_value() -> None:
    store = access(1, "0.1", "stores", "4", new=UNKNOWN, old=value("None"))
    told = [
        Letters().does(one)
        for one in (
            store,
            store._replace(old=UNKNOWN),
            store._replace(new=value("4")),
            access(1, "0.1", "reads", old=UNKNOWN),
            access(1, "0.1", "iterates", old=UNKNOWN),
        )
    ]
    assert told == ["replaces None", "stores a value", "stores 4 over None", "reads it", "takes the next of it"]


def test_a_call_names_what_it_is_of() -> None:
    pop = access(1, "0.1", "calls", detail="heappop()", thing=("whole", 1, ""), reads=True, old=Value("[]", "list", 3))
    assert Letters().does(pop) == "heappop() of []"
    assert Letters().does(pop._replace(writes=True, new=pop.old)) == "heappop() of []"
    assert Letters().does(pop._replace(writes=True, new=value("[3]"))) == "heappop() of [], then [3]"
    get = pop._replace(detail="get('x')", thing=("item", 1, "'x'"), old=value("3"))
    assert Letters().does(get) == "get('x'): 3"


@pytest.mark.parametrize(
    ("ending", "told"), [("IndexError", "heappop() of []: raises IndexError"), ("exit status 1", ": exit status 1")]
)
def test_the_last_line_of_a_chain_says_what_it_raises(ending: str, told: str) -> None:
    place = Place("prog.py", "prog.py", 7, 1, "work", "CALL", True)
    chain = Chain((ChainStep("0.1", place, "heappop() of []", "", reached=True),), ending, whole=True)
    assert told in "\n".join(chain_as_text(chain, PROGRAM))


COMPREHENSION = """\
import threading
class Box:
    def __init__(self):
        self.names = ["a"]
    def count(self):
        total = {n: len(n) for n in self.names}
        assert "c" not in total
    def swap(self):
        self.names = ["c"]
box = Box()
threads = [threading.Thread(target=one) for one in (box.count, box.swap)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_a_chain_goes_on_through_what_a_comprehension_goes_through(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(COMPREHENSION)
    found = hunt(describe_program((sys.executable, "prog.py"), directory=tmp_path), Settings(), HuntOptions(runs=50))
    assert found.passing is not None
    assert found.failing is not None
    chain = explain(isolate(found.passing, found.failing)).chain
    assert (chain.lost, chain.whole) == ("", True)
    assert [step.place.line for step in chain.steps] == [9, 6, 7]


def test_made_up_variables_are_not_told() -> None:
    """As pytest makes them, where it rewrites an assertion."""

    def words(variable: str) -> tuple[str, str]:
        instruction = SimpleNamespace(name="STORE_FAST", stores=(variable,), operands=(0,), text="")
        flow = SimpleNamespace(steps=[SimpleNamespace(values=(value("1"),))], instruction=lambda _: instruction)
        run: Any = SimpleNamespace(flow=flow, accesses=lambda _: [], step_of=lambda _: None)
        search = _Search.__new__(_Search)
        search.failing, search._goals = run, {}
        return search._words(run, Node(0), Letters())

    assert words("total") == ("total = ", "1")
    assert words("@py_assert1") == ("", "")


DIES = """\
import threading
class Shop:
    def __init__(self):
        self.stock, self.sold = {"pear": 1}, []
    def sell(self):
        if "pear" in self.stock:
            del self.stock["pear"]
            self.sold.append("pear")
    def clear(self):
        self.stock.clear()
        self.sold.append("rest")
shop = Shop()
threads = [threading.Thread(target=one) for one in (shop.sell, shop.clear)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(shop.sold) == 2
"""


def test_a_chain_goes_through_the_thread_that_died(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(DIES)
    found = hunt(describe_program((sys.executable, "prog.py"), directory=tmp_path), Settings(), HuntOptions(runs=50))
    assert found.passing is not None
    assert found.failing is not None
    assert signature_of(found.failing.ending).text.endswith(", after KeyError in thread 0.1 (prog.py:7)")
    chain = explain(isolate(found.passing, found.failing)).chain
    assert chain.whole
    assert [step.place.line for step in chain.steps[-2:]] == [7, 16]
    assert chain.steps[-2].words.endswith("raises KeyError")
    assert chain.ending == "AssertionError"


QUEUED = """\
import queue, threading
jobs = queue.Queue()
jobs.put("one")
lacked = []
def work():
    try:
        if not jobs.empty():
            jobs.get_nowait()
    except queue.Empty:
        lacked.append(1)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not lacked
"""


def test_a_call_that_the_others_interrupted_is_not_told_with_what_was_there_before(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(QUEUED)
    found = hunt(describe_program((sys.executable, "prog.py"), directory=tmp_path), Settings(), HuntOptions(runs=50))
    assert found.passing is not None
    assert found.failing is not None
    told = explain(isolate(found.passing, found.failing))
    assert told.story is not None
    assert [step.words for step in told.story.turns[-1].steps] == ["get_nowait()"]

"""What is proposed against a failure: regions from edge to edge, locks of the program, orders.

Longer than 400 lines because all of it is proposed for one program.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from replay_dd.report.tried import virtual_in_words
from replay_dd.schedules.experiments import experiments as module
from replay_dd.schedules.experiments.experiments import Budget
from replay_dd.schedules.experiments.narrow import bodies_called, covers, narrowed
from replay_dd.schedules.experiments.proposals import (
    barrier_proposals,
    deadlock_proposals,
    joined,
    lock_proposals,
    order_proposals,
    outermost,
    sites,
    without_gaps,
)
from replay_dd.schedules.experiments.sources import Sources, between
from replay_dd.schedules.experiments.statements import Statements
from replay_dd.schedules.observation import Access, Observation, StackFrame
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.virtual import Region, VirtualBarrier, VirtualLock, VirtualOrder
from tests.schedules.experiments.fakes import access, program_with

pytestmark = pytest.mark.once

TEXT = """\
class Thing:
    def update(self):
        before = self.get()
        after = before + 1

        self.put(after)
        return after
    def get(self):
        return self.value
    def put(self, value):
        with self.lock:
            self.value = value
    def both(self):
        for _ in range(2):
            self.update()
    def reset(self):
        self.lock.acquire()
        self.value = 0
        self.lock.release()
        self.other = 0
"""
UPDATE, GET, PUT, RESET = "Thing.update", "Thing.get", "Thing.put", "Thing.reset"
LOCK = 7
READ = access("0.1", ("work", 90), ("Thing.both", 15), (UPDATE, 3), (GET, 9))
WRITE = access("0.1", ("work", 90), ("Thing.both", 15), (UPDATE, 6), (PUT, 12), does="stores", held=(LOCK,))
OTHER = access("0.2", ("work", 91), (RESET, 18), does="stores", held=(LOCK,))
UNGUARDED = access("0.2", ("work", 91), (RESET, 20), does="stores")
TAKES = access("0.2", ("work", 91), (RESET, 17), ("-acquire", 1), does="acquires", thing=("lock", LOCK, ""))


def replace_line(frame: StackFrame, line: int, function: str) -> StackFrame:
    return frame._replace(line=line, function=function)


def region(function: str, first: int, last: int = 0) -> Region:
    return Region("prog.py", function, first, last or first)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(program_with(tmp_path, prog_py=TEXT))


def conflict(left: Access | None, right: Access | None, *others: Access) -> Conflict:
    edges = [None if one is None else Edge(one, others, False) for one in (left, right)]
    return Conflict("0.1", edges[0], edges[1], None, others, (), ())


def seen(*accesses: Access) -> tuple[Observation, Observation]:
    return Observation(accesses, {LOCK: "Thing.lock"}), Observation((), {})


def test_a_region_reaches_from_edge_to_edge_in_the_frame_that_both_share(sources: Sources) -> None:
    assert between(READ, WRITE, sources)[:4] == [
        *(region(UPDATE, 3, 6), region(UPDATE, 3, 7)),
        *(region("Thing.both", 15), region("Thing.both", 14, 15)),
    ]


def test_accesses_of_one_line_are_one_statement(sources: Sources) -> None:
    assert between(READ, READ, sources)[0] == region(GET, 9)


def test_calls_from_two_lines_share_their_caller_only(sources: Sources) -> None:
    first, second = (access("0.1", (UPDATE, line), (GET, 9)) for line in (3, 4))
    assert between(first, second, sources)[0] == region(UPDATE, 3, 4)


def test_comprehensions_and_library_code_are_no_place_for_a_lock(sources: Sources) -> None:
    inside = access("0.1", (UPDATE, 3), (f"{UPDATE}.<locals>.<listcomp>", 3))
    library = access("0.1", (UPDATE, 6), ("-Queue.put", 100))
    assert between(inside, library, sources)[0] == region(UPDATE, 3, 6)


def test_a_handler_that_a_package_calls_shares_only_the_package_with_what_that_does_itself(tmp_path: Path) -> None:
    """As where a client takes its lock, calls a handler of the program, and that waits for another lock of it."""
    program = program_with(tmp_path, prog_py=TEXT)
    package = tmp_path / "pack" / "part.py"
    package.parent.mkdir()
    package.write_text(TEXT)
    sources = Sources(replace(program, files={**program.files, "pack/part.py": program.files["prog.py"]}))
    itself = access("0.1", (f"+{UPDATE}", 3), does="acquires")
    handler = access("0.1", (f"+{UPDATE}", 6), ("on_message", 20), (f"+{GET}", 9), does="acquires")
    assert between(itself, handler, sources)[0] == Region("pack/part.py", UPDATE, 3, 6)
    called = [access("0.1", ("work", 15), (f"+{UPDATE}", line)) for line in (3, 6)]
    assert between(*called, sources)[0] == region("work", 15)


def test_what_is_only_called_from_another_region_needs_no_lock_of_its_own() -> None:
    around, inside = region(UPDATE, 3, 6), region(PUT, 11, 12)
    assert outermost((around, inside), seen(READ, WRITE)) == (around,)
    elsewhere = access("0.2", ("work", 91), (PUT, 12), does="stores")
    assert outermost((around, inside), seen(READ, WRITE, elsewhere)) == (around, inside)
    assert outermost((around, region(RESET, 18)), seen(READ, WRITE)) == (around, region(RESET, 18))


def test_instead_of_a_statement_what_it_calls_may_be_locked(sources: Sources) -> None:
    within = [VirtualLock((region(UPDATE, 3, 7),))]
    assert list(bodies_called(VirtualLock((region("Thing.both", 15),)), seen(READ, WRITE), sources)) == within
    several = VirtualLock((region(UPDATE, 3, 6),))
    assert list(bodies_called(several, seen(READ, WRITE), sources)) == []
    of_program = VirtualLock((region("Thing.both", 15),), "self.lock")
    assert list(bodies_called(of_program, seen(READ, WRITE), sources)) == []


def test_a_lock_that_one_function_takes_and_another_one_gives_back_guards_nothing(tmp_path: Path) -> None:
    kept = TEXT.replace("self.lock.release()", "self.value = 0")
    groups = list(
        lock_proposals(
            conflict(READ, WRITE, OTHER),
            seen(READ, TAKES, OTHER, WRITE),
            Sources(program_with(tmp_path, prog_py=kept)),
        )
    )
    assert {lock.taking for group in groups for lock in group} == {""}


def test_a_lock_that_is_kept_at_one_place_is_taken_as_another_one_takes_it(tmp_path: Path) -> None:
    kept = TEXT.replace("self.lock.release()", "self.value = 0")
    entered = TAKES._replace(place=replace(TAKES.place, line=11, function=PUT))
    entered = entered._replace(stack=(replace_line(TAKES.stack[0], 11, PUT), *TAKES.stack[1:]))
    sources = Sources(program_with(tmp_path, prog_py=kept))
    groups = list(lock_proposals(conflict(READ, WRITE, OTHER), seen(READ, TAKES, entered, OTHER, WRITE), sources))
    assert "self.lock" in {lock.taking for group in groups for lock in group}


def test_there_is_no_region_in_a_file_that_has_changed(tmp_path: Path) -> None:
    program = program_with(tmp_path, prog_py=TEXT)
    (tmp_path / "prog.py").write_text(TEXT + "#")
    assert between(READ, WRITE, Sources(program)) == []
    (tmp_path / "prog.py").write_text("no python")
    assert between(READ, WRITE, Sources(program_with(tmp_path, prog_py="no python"))) == []


def test_without_a_lock_of_the_program_the_regions_of_all_threads_are_locked(sources: Sources) -> None:
    unguarded = access("0.1", ("work", 90), ("Thing.both", 15), (UPDATE, 6), (PUT, 12), does="stores")
    (group,) = lock_proposals(conflict(READ, unguarded, UNGUARDED), seen(READ, unguarded, UNGUARDED), sources)
    assert group[0].taking == ""
    assert group[0].regions == (region(RESET, 20), region(UPDATE, 3, 6))


def test_a_lock_that_guards_the_other_accesses_comes_first(sources: Sources) -> None:
    own, second = lock_proposals(conflict(READ, WRITE, OTHER), seen(READ, TAKES, OTHER, WRITE), sources)
    assert own[0] == VirtualLock((region(UPDATE, 3, 6),), "self.lock")
    assert own[1] == VirtualLock((region(UPDATE, 3, 7),), "self.lock")
    assert second[0] == VirtualLock((region(RESET, 18), region(UPDATE, 3, 6)))


def test_what_is_done_under_a_lock_is_locked_from_outside_of_it(sources: Sources) -> None:
    """Otherwise two threads would take the virtual lock and that one in different orders."""
    assert sources.lockable(WRITE) == region(PUT, 11, 12)
    assert sources.lockable(access("0.1", (PUT, 12))) == region(PUT, 12)
    assert sources.lockable(access("0.1", (UPDATE, 4), held=(LOCK,))) == region(UPDATE, 4)
    assert sources.lockable(access("0.1", (UPDATE, 99), held=(LOCK,))) is None


def test_what_is_not_guarded_by_that_lock_takes_it_too(sources: Sources) -> None:
    proposed = conflict(READ, WRITE, OTHER, UNGUARDED)
    own, _ = lock_proposals(proposed, seen(READ, TAKES, OTHER, UNGUARDED, WRITE), sources)
    assert own[0] == VirtualLock((region(RESET, 20), region(UPDATE, 3, 6)), "self.lock")


def test_a_lock_that_both_edges_hold_is_taken_by_the_others(sources: Sources) -> None:
    """By them alone: the interrupted thread has it all the time."""
    edges = [access("0.1", (UPDATE, line), held=(LOCK,)) for line in (3, 6)]
    first, last = (access("0.2", ("work", 91), (RESET, line)) for line in (18, 20))
    groups = list(lock_proposals(conflict(*edges, last, first), seen(*edges, TAKES, first, last), sources))
    assert [group[0].taking for group in groups] == ["self.lock", ""]
    assert groups[0][0].regions == (region(RESET, 18, 20),)
    guarded = list(lock_proposals(conflict(*edges, OTHER), seen(*edges, TAKES, OTHER), sources))
    assert [group[0].taking for group in guarded] == [""]


def test_a_lock_is_found_at_accesses_elsewhere(sources: Sources) -> None:
    elsewhere = access("0.3", (RESET, 18), held=(LOCK,))
    groups = list(lock_proposals(conflict(READ, READ, UNGUARDED), seen(READ, UNGUARDED, TAKES, elsewhere), sources))
    assert [group[0].taking for group in groups] == ["self.lock", ""]
    other_thing = access("0.3", (RESET, 18), held=(LOCK,), name="Thing.other")
    groups = list(lock_proposals(conflict(READ, READ, UNGUARDED), seen(READ, UNGUARDED, TAKES, other_thing), sources))
    assert [group[0].taking for group in groups] == [""]


def test_what_happens_alike_many_times_is_looked_at_once(sources: Sources, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a loop of some hundred rounds keeps a search for locks busy for minutes."""
    asked: list[str] = []

    def count(name: str, original: Callable[..., object]) -> None:
        monkeypatch.setattr(Statements, name, lambda *lines: [asked.append(name), original(*lines)][1])  # type: ignore[func-returns-value]

    count("keeps_lock", Statements.keeps_lock)
    count("runs_around", Statements.runs_around)

    def searches(rounds: int) -> int:
        asked.clear()
        others = [OTHER._replace(number=number) for number in range(rounds)]
        takes = [TAKES._replace(number=number) for number in range(rounds)]
        list(lock_proposals(conflict(READ, WRITE, *others), seen(READ, *takes, *others, WRITE), sources))
        return len(asked)

    assert searches(50) == searches(2)


def test_nothing_is_proposed_without_an_edge(sources: Sources) -> None:
    assert list(lock_proposals(conflict(None, None), seen(), sources)) == []
    assert list(order_proposals(conflict(None, None), Observation((), {}), sources)) == []


def test_an_order_makes_wait_what_came_too_early(sources: Sources) -> None:
    orders = list(order_proposals(conflict(READ, WRITE, OTHER, UNGUARDED), Observation((), {}), sources))
    assert orders == [
        VirtualOrder(region(RESET, 18), region(PUT, 12)),
        VirtualOrder(region(GET, 9), region(RESET, 20)),
    ]
    assert list(order_proposals(conflict(READ, None, READ), Observation((), {}), sources)) == []  # one place


def test_threads_that_run_one_function_get_a_barrier_between_its_parts(sources: Sources) -> None:
    part = access("0.2", ("work", 90), (UPDATE, 3), (GET, 9), does="stores")
    whole = access("0.1", ("work", 90), (UPDATE, 6))
    third = access("0.3", ("work", 90), (UPDATE, 4))
    early = Conflict("0.2", None, Edge(part, (whole,), False), None, (whole,), (), ())
    (barrier, *_) = barrier_proposals(early, seen(part, whole, third, OTHER)[0], sources)
    assert barrier == VirtualBarrier(region(UPDATE, 6), ("0.1", "0.2", "0.3"))
    # The part that came too late is behind the other one, or in another function.
    late = Conflict("0.2", None, Edge(whole, (part,), False), None, (part,), (), ())
    assert list(barrier_proposals(late, seen(part, whole)[0], sources)) == []
    elsewhere = Conflict("0.2", None, Edge(OTHER, (whole,), False), None, (whole,), (), ())
    assert list(barrier_proposals(elsewhere, seen(OTHER, whole)[0], sources)) == []


def test_threads_that_come_to_the_next_round_of_a_loop_too_soon_get_a_barrier(tmp_path: Path) -> None:
    text = "def work():\n    for _ in range(2):\n        for _ in range(3):\n            look()\n        put()\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    alone = [access("0.1", ("work", line), number=number) for number, line in enumerate((4, 5))]
    look, put = access("0.3", ("work", 4), number=3), access("0.2", ("work", 5), does="stores", number=2)
    observed = seen(*alone, put, look, access("0.2", ("work", 4), number=4))[0]
    early = Conflict("0.3", Edge(look, (put,), False), None, None, (put,), (), ())
    (barrier,) = barrier_proposals(early, observed, sources)
    assert barrier == VirtualBarrier(region("work", 3, 4), ("0.2", "0.3")), "the other one was done before"


def test_a_deadlock_gets_one_lock_around_what_each_thread_takes(sources: Sources) -> None:
    turns = [[READ, WRITE], [access("0.2", (RESET, 17)), access("0.2", (RESET, 20))]]
    (group,) = deadlock_proposals(turns, sources)
    assert group[0].regions == (region(RESET, 17, 20), region(UPDATE, 3, 6))
    assert group[-1].regions[1] == region(RESET, 17, 20)  # that is all of it
    assert group[1].regions[1] == region(UPDATE, 3, 7)


def test_regions_that_overlap_or_follow_each_other_are_one(sources: Sources) -> None:
    assert joined([region(UPDATE, 4, 6), region(UPDATE, 3, 4)], sources) == (region(UPDATE, 3, 6),)
    assert joined([region(UPDATE, 6), region(UPDATE, 4)], sources) == (region(UPDATE, 4, 6),)  # over a blank line
    apart = (region(UPDATE, 3), region(UPDATE, 6))
    assert joined(apart, sources) == apart
    blocks = (region("Thing.both", 14, 15), region(UPDATE, 3))
    assert joined(reversed(blocks), sources) == blocks


def test_a_lock_is_narrowed_to_the_statements_that_are_needed(sources: Sources) -> None:
    lock = VirtualLock((region(RESET, 17, 20), region(UPDATE, 3, 7)), "self.lock")

    def needs(*lines: int) -> VirtualLock:
        def holds(tried: VirtualLock) -> bool:
            assert tried.taking == "self.lock"
            return all(any(one.first <= line <= one.last for one in tried.regions) for line in lines)

        return narrowed(lock, sources, holds, 100)

    assert needs(4).regions == (region(UPDATE, 4),)
    assert needs(3, 6).regions == (region(UPDATE, 3, 6),)
    assert needs(18, 4).regions == (region(RESET, 18), region(UPDATE, 4))


def test_narrowing_leaves_no_gap_to_a_with_that_takes_the_same_lock(tmp_path: Path) -> None:
    """Others may come in where a lock is given back and taken again; with a virtual one, hardly a schedule shows it."""
    text = "def renew():\n    with lock:\n        a = 1\n    b = 2\n    with lock:\n        c = 3\n    d = 4\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    whole = VirtualLock((region("renew", 2, 7),), "lock")
    tried: list[VirtualLock] = []

    def holds(one: VirtualLock) -> bool:
        tried.append(one)
        return any(part.first <= 4 <= part.last for part in one.regions)

    assert narrowed(whole, sources, holds, 100).regions == (region("renew", 2, 6),)
    assert all(one.regions != (region("renew", 4),) for one in tried)
    other = replace(whole, taking="")
    assert narrowed(other, sources, holds, 100).regions == (region("renew", 4),)
    assert without_gaps(VirtualLock((region("renew", 4),), "self.lock"), sources).regions == (region("renew", 2, 6),)
    taken = VirtualLock((region("renew", 2, 3), region("renew", 7)), "self.lock")
    assert without_gaps(taken, sources).regions == (region("renew", 5, 7),)  # where it is not taken already


def test_narrowing_ends_where_nothing_more_may_be_tried(sources: Sources) -> None:
    lock = VirtualLock((region(UPDATE, 3, 7),))
    tried: list[VirtualLock] = []

    def holds(one: VirtualLock) -> bool:
        tried.append(one)
        return False

    assert narrowed(lock, sources, holds, 3) == lock
    assert len(tried) == 3


def test_what_other_functions_do_to_the_same_things_is_locked_as_well(sources: Sources) -> None:
    """As `remove` does the same as `add`; each from its first access to its last one."""
    plain = [access("0.2", ("work", 91), (RESET, line)) for line in (18, 20)]
    of_others = [access("0.3", ("work", 92), (RESET, 17)), access("0.1", ("main", 3), ("Thing.__init__", 2))]
    failing = seen(READ, *plain, *of_others, UNGUARDED)[0]
    inside = [region(UPDATE, 3, 6)]
    assert sites([READ, UNGUARDED], {"0.1", "0.2"}, failing, sources, inside=inside) == [region(RESET, 18, 20)]
    assert sites([READ], {"0.1", "0.2"}, failing, sources) == [region(GET, 9), region(RESET, 18, 20)]
    held = plain[0]._replace(held=(LOCK,))
    under = seen(held, plain[1]._replace(held=(LOCK,)))[0]
    assert sites([READ], {"0.2"}, under, sources, but={LOCK}) == []


def test_more_places_are_tried_after_the_smallest_lock(sources: Sources) -> None:
    plain = access("0.2", ("work", 91), (RESET, 18))
    (group,) = lock_proposals(conflict(READ, READ, UNGUARDED), seen(READ, plain, UNGUARDED), sources)
    assert [lock.regions for lock in group[:2]] == [
        (region(GET, 9), region(RESET, 20)),
        (region(GET, 9), region(RESET, 18, 20)),
    ]


def test_what_a_package_does_for_the_program_is_locked_where_the_program_calls_it(sources: Sources) -> None:
    """Nobody mends an installed package for a race of the program's own calls."""
    inside = ("+Cache.get", 40), ("+Cache._find", 44)
    looks = access("0.1", ("work", 90), (UPDATE, 3), *inside)
    stores = access("0.1", ("work", 90), (UPDATE, 6), ("+Cache.put", 50), does="stores")
    other = access("0.2", ("work", 91), (RESET, 18), ("+Cache.put", 50), does="stores", held=(LOCK,))
    takes = access("0.2", ("work", 91), (RESET, 18), ("+Cache.put", 49), does="acquires", thing=("lock", LOCK, ""))
    ((lock, *_),) = lock_proposals(conflict(looks, stores, other), seen(takes, looks, other, stores), sources)
    assert lock == VirtualLock((region(RESET, 18), region(UPDATE, 3, 6)))  # and not the lock of the package
    (order, _) = order_proposals(conflict(looks, stores, other), Observation((), {}), sources)
    assert order == VirtualOrder(region(RESET, 18), region(UPDATE, 6))


def test_what_is_all_in_packages_is_locked_there(tmp_path: Path) -> None:
    sources = Sources(program_with(tmp_path, prog_py=TEXT))
    sources.of = lambda file: Statements(TEXT)  # type: ignore[method-assign]
    one, other = (access(thread, ("+" + UPDATE, 3), does="stores") for thread in ("0.1", "0.2"))
    ((lock, *_),) = lock_proposals(conflict(one, None, other), seen(one, other), sources)
    assert isinstance(lock, VirtualLock)
    assert lock.regions == (Region("pack/part.py", UPDATE, 3, 3),)


def test_what_was_done_several_times_is_waited_for_as_often(sources: Sources) -> None:
    look = access("0", ("main", 17), (RESET, 18), number=9)
    adds = [
        access(thread, ("work", 90), (PUT, 12), does="stores", number=at) for at, thread in ((1, "0.1"), (2, "0.2"))
    ]
    passing = Observation((*adds, look, adds[0]._replace(number=10)), {})
    (order,) = order_proposals(conflict(None, adds[0], look), passing, sources)
    assert order == VirtualOrder(region(RESET, 18), region(PUT, 12), 2)
    assert "have passed prog.py:12 2 times" in virtual_in_words(order)


def test_a_lock_around_one_statement_moves_into_what_that_calls(
    sources: Sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as it holds there; what it was before stays at hand, should too few schedules have decided."""
    around, body = VirtualLock((region("Thing.both", 15),)), VirtualLock((region(UPDATE, 3, 7),))
    monkeypatch.setattr(module, "narrowed", lambda lock, *_: lock)
    twins = SimpleNamespace(failing=seen(READ, WRITE)[0], passing=seen()[1])
    found: Any = SimpleNamespace(failing=SimpleNamespace(program=program_with(tmp_path, prog_py=TEXT)))
    for holding, expected in (({around, body}, [body, around]), ({around}, [around])):
        trials: Any = SimpleNamespace(holds=lambda lock, *_, passing, holding=holding: lock in holding)
        search = module._Search(found, found, twins, conflict(None, None), trials, found, Budget(), 0)  # type: ignore[arg-type]
        assert search._narrowed(around, [0], passing=False) == expected


def test_what_a_lock_is_about_stays_under_it() -> None:
    """The schedules at hand may not need all of it."""
    reads, stores = access("0.1", (UPDATE, 3), (GET, 9)), access("0.2", (RESET, 18), does="stores", held=(LOCK,))
    lock = VirtualLock((region(UPDATE, 3, 6), region(RESET, 18)))
    assert covers(lock, [reads, stores])
    assert not covers(VirtualLock(lock.regions[:1]), [reads, stores])
    assert covers(VirtualLock(lock.regions[:1], "self.lock"), [reads, stores]), "it holds a lock of the program there"
    assert not covers(VirtualLock(lock.regions[:1], "self.lock"), [stores._replace(held=())])


def test_the_update_of_another_thread_is_one_step(tmp_path: Path) -> None:
    """``self.stock += 1``, where a descriptor reads and stores what is behind that."""
    text = "def sell():\n    s.left -= 1\ndef deliver():\n    s.left += 1\n    s.left = 1\n"
    text += "def get():\n    pass\ndef put():\n    pass\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    own = [access("0.1", ("sell", 2), one) for one in (("get", 7), ("put", 9))]
    others = [access("0.2", ("deliver", 4), ("get", 7)), access("0.2", ("deliver", 4), ("put", 9), does="stores")]
    (group,) = lock_proposals(conflict(own[0], own[1], *others), seen(own[0], *others, own[1]), sources)
    assert group[0].regions == (region("deliver", 4), region("sell", 2))
    apart = [others[0], access("0.2", ("deliver", 5), ("put", 9), does="stores")]
    (group,) = lock_proposals(conflict(own[0], own[1], *apart), seen(own[0], *apart, own[1]), sources)
    assert group[0].regions == (region("deliver", 4, 5), region("sell", 2))
    beside = [others[0], access("0.2", ("deliver", 5), ("put", 9), does="stores", thing=("attribute", 1, "sold"))]
    (group,) = lock_proposals(conflict(own[0], own[1], *beside), seen(own[0], *beside, own[1]), sources)
    assert not any(one.function == "deliver" for one in group[0].regions)


def test_narrowing_keeps_what_the_story_is_about(sources: Sources, tmp_path: Path) -> None:
    """The reader in one function, and who changes both things in another one: no schedule needed that here."""
    both = VirtualLock((region(RESET, 18, 20), region(UPDATE, 3, 6)))
    reads = access("0.1", (UPDATE, 3)), access("0.1", (UPDATE, 6))
    stores = access("0.2", (RESET, 18), does="stores"), access("0.2", (RESET, 20), does="stores")
    told = conflict(*reads, *stores)
    found: Any = SimpleNamespace(failing=SimpleNamespace(program=program_with(tmp_path, prog_py=TEXT)))
    twins = SimpleNamespace(failing=seen(*reads, *stores)[0], passing=seen()[1])
    trials: Any = SimpleNamespace(holds=lambda *_, passing: True)
    search = module._Search(found, found, twins, told, trials, found, Budget(), 0)  # type: ignore[arg-type]
    assert search._narrowed(both, [0], passing=False)[0] == both


def test_one_instruction_that_is_executed_twice_is_in_a_loop_or_in_two_calls(tmp_path: Path) -> None:
    text = "def get():\n    return value\ndef total():\n    return sum(get() for _ in range(2))\n"
    text += "def both():\n    for _ in range(2):\n        get()\ndef alone():\n    get()\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    ways = ((("total", 4), ("get", 2)), (("both", 7), ("get", 2)), (("alone", 9), ("get", 2)))
    found = []
    for way in ways:
        first = access("0.1", *way)
        found.append(between(first, first._replace(time=9), sources)[0])
        assert between(first, first, sources)[0] == region("get", 2), "it is one step"
    # Where no loop is seen, as of a thread pool, it may be anything.
    assert found == [region("total", 4), region("both", 6, 7), region("get", 2)]


def test_who_looks_at_two_things_that_belong_together_does_it_in_one_step(tmp_path: Path) -> None:
    text = "def move():\n    take()\n    give()\ndef take():\n    a.left = 1\ndef give():\n    b.left = 2\n"
    text += "def total():\n    return read(a) + read(b)\ndef read(one):\n    return one.left\n"
    text += "def check():\n    for _ in range(2):\n        total()\n"
    sources = Sources(program_with(tmp_path, prog_py=text))
    things = ("attribute", 1, "left"), ("attribute", 2, "left")
    ways = (("move", 2), ("take", 5)), (("move", 3), ("give", 7))
    own = [
        access("0.1", *way, does="stores", thing=one, number=at)
        for way, one, at in zip(ways, things, (1, 4), strict=True)
    ]
    reads = [
        access("0.2", ("check", 14), ("total", 9), ("read", 11), thing=one, number=at)
        for one, at in zip(things, (2, 3), strict=True)
    ]
    group, *_ = lock_proposals(conflict(*own, *reads), seen(own[0], *reads, own[1]), sources)
    assert group[0].regions == (region("move", 2, 3), region("total", 9))

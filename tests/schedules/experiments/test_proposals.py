"""What is proposed against a failure: regions from edge to edge, locks of the program, orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.report.tried import virtual_in_words
from replay_dd.schedules.experiments.proposals import (
    barrier_proposals,
    deadlock_proposals,
    joined,
    lock_proposals,
    order_proposals,
    sites,
)
from replay_dd.schedules.experiments.sources import Sources
from replay_dd.schedules.experiments.statements import Statements
from replay_dd.schedules.observed.observation import Observation
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.virtual import Region, VirtualBarrier, VirtualLock, VirtualOrder
from tests.schedules.experiments.fakes import access, program_with
from tests.schedules.experiments.thing_program import (
    GET,
    LOCK,
    OTHER,
    PUT,
    READ,
    RESET,
    TAKES,
    TEXT,
    UNGUARDED,
    UPDATE,
    WRITE,
    conflict,
    region,
    replace_line,
    seen,
)

pytestmark = pytest.mark.once


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


@pytest.mark.parametrize(
    ("made", "taking"),
    [
        ("Lock made at prog.py:1", ["self.lock", ""]),
        ("Lock made at prog.py:3", [""]),  # it is kept nowhere
        ("Lock made at other.py:1", [""]),
        ("Lock", [""]),
    ],
)
def test_a_lock_that_the_program_gives_to_a_package_is_named_as_where_it_was_made(
    made: str, taking: list[str], tmp_path: Path
) -> None:
    sources = Sources(program_with(tmp_path, prog_py="self.lock = Lock()\n" + TEXT))
    inside = access("0.2", ("work", 91), (RESET, 18), ("+get", 3), does="stores", held=(LOCK,))
    takes = access(
        *("0.2", ("work", 91), (RESET, 18), ("+get", 2), ("-acquire", 1)),
        does="acquires",
        thing=("lock", LOCK, ""),  # type: ignore[arg-type]
    )
    failing = Observation((READ, takes, inside), {LOCK: made})
    groups = list(lock_proposals(conflict(READ, READ, inside), (failing, Observation((), {})), sources))
    assert [group[0].taking for group in groups] == taking


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


def test_what_the_failing_run_has_not_come_to_is_locked_as_in_the_passing_run(sources: Sources) -> None:
    """As `del` of what is there only after a while, while another thread goes through all of it."""
    there = ("attribute", 5, "value")  # another number for the same object
    later = access("0.2", ("work", 91), (RESET, 18), thing=there)
    passing = Observation((READ._replace(thing=there), later), {})
    failing, _ = seen(READ, UNGUARDED)
    (group,) = lock_proposals(conflict(READ, READ, UNGUARDED), (failing, passing), sources)
    assert [lock.regions for lock in group[:2]] == [
        (region(GET, 9), region(RESET, 20)),
        (region(GET, 9), region(RESET, 18), region(RESET, 20)),
    ]


def test_who_only_takes_the_lock_need_not_be_kept_out(sources: Sources) -> None:
    """Who has it may have to do the very thing that is locked before it gives it back."""
    lock = access("0.1", ("work", 90), ("Thing.both", 15), (UPDATE, 6), does="acquires", thing=("lock", LOCK, ""))
    of_other = access("0.2", ("work", 91), (RESET, 17), does="acquires", thing=("lock", LOCK, ""))
    groups = lock_proposals(conflict(READ, lock, UNGUARDED), seen(READ, of_other, UNGUARDED, lock), sources)
    regions = [one for group in groups for lock in group for one in lock.regions]
    assert regions
    assert not [one for one in regions if one.function == RESET and one.first <= 17 <= one.last]


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

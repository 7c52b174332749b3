"""The conflict as the access that failed tells it, the order that passes, and what is shown too early."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.model import Ending, Frame, UncaughtException
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Access, Observation, Value
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge, find_conflict, used_unready
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.order import passing_order
from replay_dd.schedules.story.raised import deciding_look
from replay_dd.schedules.story.sentences import summary_of
from replay_dd.schedules.story.tell import tell_race
from replay_dd.schedules.story.victim import (
    better_of,
    changed_in_between,
    conflict_of_victim,
    failed_access,
    is_raised,
    made_by_both,
    made_once_more,
    never_done,
)
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, Y, access, conflict_of, number, switch

ITEM, FILE = ("item", 7, "'a'"), ("file", -1, "/tmp/a.log")


def seen(*accesses: Access) -> Observation:
    """An observation of accesses in this order."""
    return Observation(tuple(one._replace(number=place) for place, one in enumerate(accesses, 1)), {})


def test_the_access_that_found_nothing_is_the_victim() -> None:
    look = access("0.1", 1, 1, "checks", ITEM, tested=True)
    gone = access("0.2", 1, 5, "deletes", ITEM, writes=True, new=NOTHING)
    use = access("0.1", 2, 6, "reads", ITEM, old=NOTHING)
    failing, passing = seen(look, gone, use), seen(look, use._replace(old=number(1)), gone)
    victim = failed_access(failing, passing, switch(2), PASSED)
    assert victim == failing.accesses[2]
    conflict = conflict_of_victim(failing, NOTHING_OBSERVED, victim)
    assert conflict is not None
    assert kind_of(conflict, PASSED) == kinds.CHECK_THEN_ACT
    assert passing_order(conflict, failing, passing) == (failing.accesses[2], failing.accesses[1])


def test_a_variable_of_a_module_that_is_not_there_yet_makes_a_victim() -> None:
    thing = ("global", 1, "x")
    failing = seen(access("0.2", 1, 5, "reads", thing, old=NOTHING), access("0.1", 2, 6, "stores", thing))
    assert failed_access(failing, seen(), switch(2), PASSED) == failing.accesses[0]


def test_what_fails_in_the_passing_run_as_well_is_no_victim() -> None:
    use = access("0.1", 2, 6, "reads", ITEM, old=NOTHING)
    assert failed_access(seen(use), seen(use), switch(2), PASSED) is None


def test_who_finds_nothing_and_makes_it_is_no_victim_unless_that_raised() -> None:
    look = access("0.2", 1, 5, "reads", old=NOTHING)
    makes = access("0.2", 2, 6, "stores", new=Value("", "Connection", 9))
    ends = (PASSED, raising(look.place.line))
    assert [failed_access(seen(look, makes), seen(), switch(2), end) is None for end in ends] == [True, False]


def test_a_victim_that_never_looked_uses_what_is_gone() -> None:
    close = access("0.2", 1, 5, "calls", FILE, writes=True, detail="close()")
    write = access("0.1", 2, 6, "calls", FILE, reads=True, writes=True, old=NOTHING, detail="write()")
    failing = seen(access("0.1", 1, 1, "reads", Y), close, write)
    conflict = conflict_of_victim(failing, NOTHING_OBSERVED, failing.accesses[2])
    assert failed_access(failing, seen(), switch(2), PASSED) == failing.accesses[2]
    assert conflict is not None
    assert conflict.left is None
    assert kind_of(conflict, PASSED) == kinds.INVALIDATED


def test_a_victim_without_a_change_before_it_came_too_early() -> None:
    failing = seen(
        access("0.1", 1, 1, "reads", Y), access("0.2", 1, 5, "reads", old=NOTHING), access("0.1", 2, 6, "stores")
    )
    conflict = conflict_of_victim(failing, NOTHING_OBSERVED, failing.accesses[1])
    assert conflict is not None
    assert (conflict.thread, kind_of(conflict, PASSED)) == ("0.1", kinds.TOO_EARLY)


def test_what_a_thread_never_came_to_make_was_used_too_early() -> None:
    begun, use = access("0.1", 1, 1, "reads", Y), access("0.2", 1, 5, "reads", ITEM, old=NOTHING)
    there = access("0.2", 1, 5, "reads", ("item", 9, "'a'"))._replace(old=number(1))
    made = access("0.1", 2, 6, "stores", ("item", 9, "'a'"), new=number(1))
    failing, passing = seen(begun, use), seen(begun, made, there)
    conflict = conflict_of_victim(failing, passing, failing.accesses[1])
    assert conflict is not None
    assert conflict.never
    assert (conflict.thread, kind_of(conflict, PASSED)) == ("0.1", kinds.TOO_EARLY)
    story = tell_race(conflict, failing, passing, PASSED)
    assert story is not None
    assert [turn.thread for turn in story.turns] == ["0.2"]
    assert "which it no longer comes to" in story.summary
    went_another_way = seen(begun._replace(time=5), use)
    assert conflict_of_victim(went_another_way, passing, use) is None


def test_what_both_threads_made_was_missing_when_both_looked() -> None:
    absent, there = number(1)._replace(text="False"), number(2)
    look = access("0.1", 1, 1, "checks", ITEM, tested=True, old=absent)
    other_look = access("0.2", 1, 2, "checks", ITEM, tested=True, old=absent)
    other_made = access("0.2", 2, 3, "stores", ITEM, old=NOTHING)
    made = access("0.1", 2, 4, "stores", ITEM, old=there)
    taken = access("0.1", 3, 5, "deletes", ITEM, old=there, new=NOTHING)
    use = access("0.2", 3, 6, "deletes", ITEM, old=NOTHING)
    failing = seen(look, other_look, other_made, made, taken, use)
    conflict = made_by_both(failing, failing.accesses[-1])
    assert conflict is not None
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.thread, kind_of(conflict, PASSED)) == ("0.1", kinds.CHECK_THEN_ACT)
    assert (conflict.left.access, conflict.right.access) == (failing.accesses[0], failing.accesses[3])
    # It was there already when this thread looked, or nobody else made it in between.
    late = seen(other_look, other_made, look._replace(old=absent._replace(text="True")), made, taken, use)
    assert made_by_both(late, late.accesses[-1]) is None
    alone = seen(other_look, other_made, look, made, taken, use)
    assert made_by_both(alone, alone.accesses[-1]) is None


def test_a_check_by_the_victim_explains_more_than_the_order_of_two_others() -> None:
    look = access("0.3", 1, 1, "reads", tested=True)
    failing = seen(
        *(look, access("0.1", 4, 4, "stores"), access("0.2", 1, 5, "stores")),
        *(access("0.3", 2, 6, "reads", old=NOTHING), access("0.1", 5, 9, "stores")),
    )
    victim = failing.accesses[3]
    by_edges = conflict_of([*failing.accesses[1:]], 5, 5)
    by_victim = conflict_of_victim(failing, NOTHING_OBSERVED, victim)
    assert by_victim is not None
    assert better_of(by_edges, by_victim, victim) is by_victim
    unchecked = conflict_of_victim(seen(look._replace(tested=False), *failing.accesses[1:]), NOTHING_OBSERVED, victim)
    assert better_of(by_edges, unchecked, victim) is by_edges


def test_a_lock_of_both_sides_is_the_edge() -> None:
    early = access("0.1", 1, 1, "reads", held=(3,))
    others = [access("0.2", 1, 6, "stores", held=(3,)), access("0.2", 2, 7, "stores", Y, held=(3,))]
    late = access("0.1", 9, 9, "reads", Y, held=(3,))
    conflict = conflict_of([early, *others, late], 5, 6)
    assert conflict.left is not None
    assert conflict.right is not None
    assert (conflict.left.inferred, conflict.right.inferred) == (False, False)
    assert kind_of(conflict, PASSED) == kinds.TORN_READ


def test_an_object_that_is_shown_before_it_is_ready_is_used_too_early() -> None:
    shown = access("0.1", 4, 4, "stores", new=Value("", "Thing", 40))
    missing = access("0.2", 2, 6, "reads", ("attribute", 40, "size"), old=NOTHING)
    conflict = conflict_of([shown, access("0.2", 1, 5, "reads"), missing], 5, 5)
    assert used_unready(conflict) == missing
    assert kind_of(conflict, PASSED) == kinds.TOO_EARLY


def test_the_sentence_names_what_is_shown_and_not_twice_what_is_missing_in_it() -> None:
    shown = access("0.1", 4, 4, "stores", name="Server.jobs[2]", new=Value("", "Job", 40))
    size = ("attribute", 40, "size")
    missing = access("0.2", 2, 6, "reads", size, name="Job.size", old=NOTHING)
    completes = access("0.1", 9, 9, "stores", size, name="Job.size")
    left, right = (Edge(one, (missing,), inferred=False) for one in (shown, completes))
    conflict = Conflict("0.1", left, right, None, (missing,), (shown,), (completes,))
    told = summary_of(kinds.TOO_EARLY, conflict)
    assert "stores Server.jobs[2] (prog.py:4) before it is ready" in told
    assert "misses Job.size in it (prog.py:2), which thread 0.1 sets only then (prog.py:9)" in told


def test_who_lets_go_of_an_object_takes_it_out_of_a_weak_mapping() -> None:
    weak = access("0.1", 1, 1, "checks", ITEM, holder_type="WeakValueDictionary", new=Value("", "Font", 9))
    let_go = access("0.2", 1, 2, "stores", old=Value("", "Font", 9))
    assert weak.conflicts(let_go)
    assert not weak.conflicts(let_go._replace(old=Value("", "Font", 10)))


def test_a_call_that_waits_in_another_thread_takes_effect_in_its_stretch() -> None:
    queue, lock = ("object", 5, ""), ("lock", 6, "")
    call = access("0.2", 1, 1, "calls", queue, reads=True, writes=True, detail="get()")
    expires = access("0.2", 2, 6, "gives up", lock, place=call.place)
    put = access("0.1", 9, 9, "calls", queue, writes=True, detail="put()")
    early = GuiltySwitch(replace(switch(9), global_time=5), None)
    conflict = find_conflict(Observation((call, expires, put), {}), early, None)
    assert conflict.stretch == (call, expires)
    assert kind_of(conflict, PASSED) == kinds.EARLY_TIMEOUT


def test_the_time_out_is_named_where_it_expires_and_not_where_its_thread_goes_on() -> None:
    lock = ("lock", 6, "")
    expires = access("0.2", 3, 5, "gives up", lock)
    stores = access("0.2", 8, 6, "stores", new=number(7))
    reads = access("0.1", 9, 9, "reads")
    early = GuiltySwitch(replace(switch(9), global_time=5), None)
    failing = seen(expires, stores, reads)
    conflict = find_conflict(failing, early, None)
    assert kind_of(conflict, PASSED) == kinds.EARLY_TIMEOUT
    assert "time-out of thread 0.2 (prog.py:3) expires before" in summary_of(kinds.EARLY_TIMEOUT, conflict)


def test_what_a_thread_needs_and_finds_gone_explains_more_than_a_time_out() -> None:
    expires, none = access("0.2", 3, 5, "gives up", ("lock", 6, "")), Value("None", "NoneType", -1)
    stores = access("0.2", 8, 6, "stores", new=none)
    reads = access("0.1", 9, 9, "reads", old=none)
    early = GuiltySwitch(replace(switch(9), global_time=5), None)
    failing = seen(expires, stores, reads)
    conflict = find_conflict(failing, early, None)
    assert kind_of(conflict, PASSED) == kinds.INVALIDATED
    told = tell_race(conflict, failing, seen(reads, stores), PASSED)
    assert told is not None
    assert "(prog.py:9) after thread 0.2 has set it to None (prog.py:8). Before that, its time-out" in told.summary
    assert [step.access.does for turn in told.turns for step in turn.steps] == ["gives up", "stores", "reads"]
    asks = find_conflict(seen(expires, stores, reads._replace(tested=True)), early, None)  # it need not be there
    assert kind_of(asks, PASSED) == kinds.EARLY_TIMEOUT


def raising(line: int) -> Ending:
    frame = Frame("prog.py", line, "work", counted=True)
    return replace(PASSED, status=1, exceptions=(UncaughtException("0.1", "Closed", "", (frame,)),))


def test_the_look_that_decided_that_an_exception_was_raised() -> None:
    look = access("0.1", 5, 5, "reads", tested=True, old=number(True))
    closed = access("0.2", 1, 6, "stores", old=number(True), new=number(False))
    last = look._replace(time=6, old=number(False))
    failing, passing = seen(look, closed, last), seen(look, look._replace(time=6), closed)
    assert deciding_look(failing, passing, raising(6)) == failing.accesses[2]
    conflict = conflict_of_victim(failing, passing, failing.accesses[2])
    assert conflict is not None
    assert kind_of(conflict, PASSED) == kinds.INVALIDATED
    assert "finds Thing.x False" in summary_of(kinds.INVALIDATED, conflict)
    assert deciding_look(failing, failing, raising(6)) is None  # it finds that in the passing run as well
    assert deciding_look(failing, passing, raising(9)) is None  # too far away
    assert deciding_look(seen(look, closed._replace(thread="0.1"), last), passing, raising(6)) is None


def test_a_check_may_have_decided_that_an_exception_was_raised() -> None:
    """What it found is what another thread has put there: ``if name in jobs: raise Conflict``."""
    look = access("0.1", 4, 4, "reads", ITEM, tested=True, old=NOTHING)
    put = access("0.2", 1, 5, "stores", ITEM, old=NOTHING)
    check = access("0.1", 6, 6, "checks", ITEM, tested=True, old=number(True))
    usual = check._replace(old=number(False))
    failing, passing = seen(look, put, check), seen(look, usual, put)
    assert deciding_look(failing, passing, raising(7)) == failing.accesses[2]
    conflict = conflict_of_victim(failing, passing, failing.accesses[2])
    assert conflict is not None
    assert kind_of(conflict, PASSED) == kinds.CHECK_THEN_ACT
    gone = seen(look, put._replace(does="deletes", new=NOTHING), check)
    assert deciding_look(gone, passing, raising(7)) is None  # it did not put it there
    assert is_raised(check, raising(6))
    assert not is_raised(look, raising(6))


def test_a_file_that_is_not_there_may_be_looked_for_in_a_wrong_directory() -> None:
    directory = ("process", 1, "the working directory")
    opened = access("0.1", 2, 6, "open", FILE, reads=True, old=NOTHING)
    looks = [access("0.1", time, 4 + time, "reads", directory, place=opened.place) for time in (1, 2)]
    moved = access("0.2", 1, 5, "stores", directory)
    failing = seen(looks[0], moved, opened, looks[1])
    assert failed_access(failing, seen(), switch(1), PASSED) == failing.accesses[3]
    stays = seen(looks[0], moved._replace(thread="0.1"), opened, looks[1])
    assert failed_access(stays, seen(), switch(1), PASSED) == stays.accesses[2]


def test_what_removes_a_thing_later_did_not_come_too_late_to_make_it() -> None:
    opened = access("0.1", 2, 5, "open", FILE, reads=True, old=NOTHING)
    removed = access("0.2", 1, 6, "os.remove", FILE, writes=True, new=NOTHING)
    failing = seen(opened, removed)
    assert conflict_of_victim(failing, NOTHING_OBSERVED, failing.accesses[0]) is None
    made = seen(opened, removed._replace(new=number(1)))
    assert conflict_of_victim(made, NOTHING_OBSERVED, made.accesses[0]) is not None


def test_a_memoised_function_that_finds_no_result_makes_one() -> None:
    look = access("0.1", 2, 6, "reads", ITEM, old=NOTHING, holder_type="dict", name="price('a')")
    assert failed_access(seen(look), seen(), switch(1), PASSED) is None
    assert failed_access(seen(look._replace(name="prices['a']")), seen(), switch(1), PASSED) is not None


def test_a_loop_whose_container_has_changed_is_the_victim() -> None:
    """The step of the loop that raises does not show that it fails; the exception says so."""
    members = ("whole", 7, "")
    steps = [access("0.1", time, time, "iterates", members, reads=True) for time in (5, 6)]
    removed = access("0.2", 1, 6, "deletes", ("item", 7, "'a'"), new=NOTHING)
    failing = seen(steps[0], removed, steps[1]._replace(place=steps[0].place, stack=steps[0].stack))
    changed = replace(raising(5).exceptions[0], text="dictionary changed size during iteration")
    ending = replace(raising(5), exceptions=(changed,))
    victim = failed_access(failing, seen(), switch(1), ending)
    assert victim == failing.accesses[2]
    assert failed_access(failing, seen(), switch(1), raising(5)) is None
    found = conflict_of_victim(failing, NOTHING_OBSERVED, victim)
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHANGED_IN_LOOP
    stored = access("0.2", 1, 6, "stores", members)
    about_it = conflict_of([steps[0], stored, access("0.1", 6, 9, "reads", members)], 6, 6)
    assert better_of(about_it, found, victim) == about_it
    # Another thread that was interrupted in between only gave this one the time.
    assert better_of(about_it._replace(thread="0.2"), found, victim) == found
    by_edges = about_it._replace(right=Edge(access("0.1", 6, 9, "reads"), (stored,), inferred=False))
    assert better_of(by_edges, found, victim) == found


def test_a_function_that_goes_through_a_container_finds_it_changed() -> None:
    """``min(tasks, key=...)``: the key is asked of each item, and another thread takes one out meanwhile."""
    members = ("whole", 7, "")
    going = access("0", 5, 5, "reads", members, detail="min()")
    asks = [access("0", time, time, "reads", Y) for time in (6, 8)]
    asks = [one._replace(stack=(*one.stack, *going.stack)) for one in asks]
    removed = access("0.1", 7, 7, "deletes", ("item", 7, "'a'"), new=NOTHING)
    changed = replace(raising(5).exceptions[0], text="dictionary changed size during iteration", where="main")
    ending = replace(raising(5), exceptions=(changed,))
    failing = seen(going, asks[0], removed, asks[1])
    victim = failed_access(failing, seen(), switch(1), ending)
    assert victim is not None
    assert (victim.does, victim.number) == ("iterates", 4)
    found = conflict_of_victim(failing, NOTHING_OBSERVED, victim)
    assert found is not None
    assert kind_of(found, PASSED) == kinds.CHANGED_IN_LOOP
    assert failed_access(seen(going, *asks, removed), seen(), switch(1), ending) is None


def test_what_a_thread_finds_missing_and_makes_although_another_one_made_it() -> None:
    beside = ("item", 8, ITEM[2])
    absent = number(1)._replace(text="False")
    look = access("0.2", 1, 1, "checks", ITEM, tested=True, old=absent)
    made = access("0.1", 5, 2, "stores", ITEM)
    made_beside = access("0.1", 6, 3, "stores", beside)
    again = access("0.2", 2, 4, "stores", beside)
    failing = seen(look, made, made_beside, again)
    first, second, third, last = failing.accesses
    early = conflict_of([access("0.1", 4, 0, "reads", Y), *failing.accesses], 5, 5)._replace(
        left=None, right=Edge(second, (first,), inferred=False)
    )
    found = made_once_more(failing, early)
    assert found is not None
    assert found.left == Edge(first, (second,), inferred=False)
    assert found.right == Edge(last, (third,), inferred=False)
    assert (found.thread, kind_of(found, PASSED)) == ("0.2", kinds.CHECK_THEN_ACT)
    # It does not make it, or makes what belongs to another key, or its look decided nothing.
    assert made_once_more(seen(look, made, made_beside), early) is None
    other = ("item", 8, "'b'")
    rest = (made, made_beside._replace(thing=other), again._replace(thing=other))
    assert made_once_more(seen(look, *rest), early) is None
    undecided = early._replace(right=Edge(second, (first._replace(tested=False),), inferred=False))
    assert made_once_more(failing, undecided) is None


def test_what_a_thread_would_have_done_next_may_be_what_was_missing() -> None:
    lines = ("whole", 3, "")
    took = access("0.1", 1, 1, "reads", Y)
    looked = access("0", 9, 5, "reads", lines, name="Drain.lines")
    added = access("0.1", 3, 4, "calls", lines, name="Drain.lines", reads=True, writes=True, detail="append('x')")
    failing, passing = seen(took, looked), seen(took, added, looked)
    found = never_done(failing, passing, switch(2))
    assert found is not None
    assert found.never
    assert found.right is not None
    assert found.right.others == (failing.accesses[1],)
    assert (found.right.access.detail, kind_of(found, PASSED)) == ("append('x')", kinds.TOO_SOON)
    assert never_done(passing, passing, switch(2)) is None  # it came to it
    assert never_done(failing, seen(took, looked), switch(2)) is None


def test_a_thread_stores_what_rests_on_what_it_saw_before_another_one_stored() -> None:
    """Where the switch is in the thread that was in between."""
    sql = ("database", -1, "")
    look = access("0.2", 1, 1, "calls", sql, reads=True, tested=True)
    commit = access("0.1", 5, 5, "calls", sql, writes=True)
    last = access("0.2", 2, 9, "calls", sql, writes=True)
    failing = seen(look, commit, last)
    look, commit, last = failing.accesses
    shown = Conflict("0.1", None, Edge(commit, (look,), inferred=False), None, (look,), (), (commit,))
    found = changed_in_between(failing, shown)
    assert found is not None
    assert found.left is not None
    assert found.right is not None
    assert (found.thread, found.left.access, found.right.access) == ("0.2", look, last)
    assert found.left.others == found.right.others == (commit,)
    assert kind_of(found, PASSED) == kinds.CHECK_THEN_ACT
    assert changed_in_between(seen(look, commit), shown) is None  # it stores nothing there
    late = shown._replace(right=Edge(commit._replace(number=3), (look,), inferred=False))
    assert changed_in_between(seen(look, last, commit), late) is None  # it was there first
    assert changed_in_between(failing, shown._replace(left=shown.right)) is None


def test_what_a_thread_stores_in_a_later_call_does_not_rest_on_its_look() -> None:
    """``self.count -= 1; if self.count == 0: ...``: the next call of this function counts down, too."""
    look = access("0.2", 1, 1, "reads", old=number(0), tested=True)
    counts = access("0.1", 1, 2, "stores")
    later = access("0.2", 2, 3, "stores")
    for line, found in ((2, True), (0, False)):  # the look is in line 1
        failing = seen(look, counts, later._replace(place=replace(later.place, line=line)))
        first, stored, _ = failing.accesses
        shown = Conflict("0.1", None, Edge(stored, (first,), inferred=False), None, (first,), (), (stored,))
        assert (changed_in_between(failing, shown) is not None) == found
        elsewhere = seen(look, counts, failing.accesses[2]._replace(stack=(*later.stack, *later.stack)))
        assert (changed_in_between(elsewhere, shown) is not None) == found  # wherever that call comes from

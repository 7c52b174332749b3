"""What the sentences of a story name, where several accesses could be named."""

from __future__ import annotations

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import access, conflict_of, number


def test_of_several_changes_the_one_whose_order_is_proved_is_named() -> None:
    others = [access("0.2", time, time, "stores", detail=str(time)) for time in (5, 6, 7)]
    conflict = conflict_of([access("0.1", 1, 1, "reads", tested=True), *others, access("0.1", 2, 9, "stores")], 1, 2)
    told = [summary_of(kinds.CHECK_THEN_ACT, conflict, proved) for proved in ([], [others[0]], [others[1], others[0]])]
    assert [text[-len("(prog.py:7).") :] for text in told] == ["(prog.py:7).", "(prog.py:5).", "(prog.py:6)."]


def test_who_uses_what_another_thread_has_put_there_for_itself() -> None:
    saves, replaces = access("0.1", 1, 1, "reads"), access("0.1", 2, 2, "stores")
    puts_back = access("0.1", 4, 9, "stores", new=number(1))
    looks, stores = access("0.2", 5, 5, "reads"), access("0.2", 6, 6, "stores", new=number(3))

    def told(*others: Access) -> str:
        left, right = (Edge(own, others, inferred=False) for own in (replaces, puts_back))
        conflict = Conflict("0.1", left, right, None, others, (saves, replaces), (puts_back,))
        assert kind_of(conflict, PASSED) == kinds.SAVE_AND_RESTORE
        return summary_of(kinds.SAVE_AND_RESTORE, conflict)

    assert "until it puts back what it has saved (prog.py:4); thread 0.2 uses it in between (prog.py:5)" in told(
        looks, stores
    )
    assert "thread 0.2 stores there, too, before it is put back (prog.py:6)" in told(stores, looks)

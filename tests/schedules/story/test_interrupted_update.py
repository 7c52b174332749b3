"""Updates that a switch interrupts between the look and the store."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.flow import Flow
from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import interrupted_update as module
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.dependences import Dependences
from replay_dd.schedules.story.interrupted_update import interrupted_update
from replay_dd.schedules.story.kinds import kind_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, switch
from tests.schedules.story.test_victim import seen

LOOK = access("0.1", 4, 1, "reads")
OTHER = access("0.2", 1, 5, "stores")
STORE = access("0.1", 5, 6, "stores")


def test_an_update_in_one_line_is_seen_by_its_two_accesses() -> None:
    failing = seen(LOOK, OTHER, STORE._replace(place=LOOK.place, stack=LOOK.stack))
    found = interrupted_update(failing, switch(5), None)
    assert found is not None
    assert kind_of(found, PASSED) == kinds.LOST_UPDATE
    assert (found.left.access, found.right.access) == (failing.accesses[0], failing.accesses[2])  # type: ignore[union-attr]


@pytest.mark.parametrize("made", [True, False])
def test_an_update_in_several_lines_stores_what_was_made_of_the_look(
    made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = seen(LOOK, OTHER, STORE)
    asked: list[tuple[Access, Access]] = []

    def answers(stored: Access, look: Access, _: Dependences) -> bool:
        asked.append((stored, look))
        return made

    monkeypatch.setattr(module, "is_made_of", answers)
    assert (interrupted_update(failing, switch(5), Flow()) is not None) == made
    assert asked == [(failing.accesses[2], failing.accesses[0])]
    assert interrupted_update(failing, switch(5), None) is None  # its instructions were not observed


def test_an_update_is_interrupted_only_if_another_thread_stores_there_meanwhile() -> None:
    store = STORE._replace(place=LOOK.place, stack=LOOK.stack)
    assert interrupted_update(seen(LOOK, store), switch(5), None) is None
    assert interrupted_update(seen(LOOK, OTHER._replace(does="reads"), store), switch(5), None) is None
    assert interrupted_update(seen(LOOK._replace(thing=Y), OTHER, store), switch(5), None) is None
    assert interrupted_update(seen(LOOK._replace(does="stores", writes=True), OTHER, store), switch(5), None) is None


def test_a_file_is_updated_from_where_it_is_read_to_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    serial = ("file", -1, "serial")
    read = access("0.1", 4, 1, "calls", serial, detail="read()", reads=True, writes=False)
    others = [access("0.2", 1, 5, "open", serial, writes=True), access("0.2", 2, 6, "calls", serial, writes=True)]
    opened = access("0.1", 5, 7, "open", serial, writes=True)
    written = access("0.1", 6, 8, "calls", serial, detail="write()", writes=True)
    asked: list[tuple[Access, Access]] = []

    def answers(stored: Access, look: Access, _: Dependences) -> bool:
        asked.append((stored, look))
        return True

    monkeypatch.setattr(module, "is_made_of", answers)
    failing = seen(read, *others, opened, written)
    found = interrupted_update(failing, switch(5), Flow())
    assert found is not None
    assert found.right is not None
    assert found.right.access == failing.accesses[3]
    assert asked == [(failing.accesses[4], failing.accesses[0])]
    assert interrupted_update(seen(read, *others, opened), switch(5), Flow()) is None  # nothing is written
    assert interrupted_update(seen(read, others[1], opened, written), switch(5), Flow()) is None
    assert interrupted_update(seen(read._replace(does="open"), *others, opened, written), switch(5), Flow()) is None

"""The two sides of a conflict: what of the others' stretch belongs to each."""

from __future__ import annotations

from dataclasses import replace

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import find_conflict, until_closed
from replay_dd.schedules.story.kinds import kind_of
from replay_dd.schedules.story.victim import conflict_of_victim
from tests.schedules.logs import PASSED
from tests.schedules.story.test_kinds import access, switch
from tests.schedules.story.test_victim import NOTHING, seen


def test_a_file_that_is_opened_anew_is_not_the_one_that_was_closed() -> None:
    """A log is moved away, and another one gets its name."""
    path = ("file", -1, "/tmp/log")
    write = access("0.1", 1, 1, "calls", path, detail="write()", writes=True, reads=True)
    close = access("0.2", 1, 5, "calls", path, detail="close()", writes=True)
    opened = access("0.2", 2, 6, "open", path, detail="open(..., 'w')", writes=True)
    late = write._replace(time=5, global_time=7, old=NOTHING)
    failing = seen(write, close, opened, late)
    for conflict in (
        find_conflict(failing, GuiltySwitch(replace(switch(5), global_time=5), None), None),
        conflict_of_victim(failing, NOTHING_OBSERVED, failing.accesses[3]),
    ):
        assert conflict is not None
        assert conflict.right is not None
        assert conflict.right.others == (failing.accesses[1],)
        assert kind_of(conflict, PASSED) == kinds.INVALIDATED
    assert until_closed(write, [close, opened]) == (close, opened)  # it is open
    reads = opened._replace(detail="open(..., 'r')", writes=False)
    own = close._replace(detail="close() at the end of with")
    assert until_closed(late, [reads, close, opened, own, opened]) == (reads, close)  # it closes its own one later
    assert until_closed(late, [opened, own]) == (opened, own)

"""Two threads that write one temporary file."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.story import kinds
from replay_dd.schedules.story.conflict import Conflict, Edge
from replay_dd.schedules.story.kinds import essential, kind_of
from replay_dd.schedules.story.same_file import help_of_same_file
from replay_dd.schedules.story.sentences import summary_of
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import NOTHING, access

FILE, REAL = ("file", -1, "state.tmp"), ("file", -1, "state")


def file_access(thread: str, time: int, number: int, does: str, **more: object) -> Access:
    return access(thread, time, number, does, FILE, **{"reads": does != "open", "writes": True, **more})


OPENS = file_access("0.1", 3, 1, "open")
OTHER_OPENS = file_access("0.2", 3, 2, "open")
OTHER_RENAMES = file_access("0.2", 5, 3, "os.rename", new=NOTHING)
RENAMES = file_access("0.1", 5, 4, "os.rename", old=NOTHING, new=NOTHING)


def conflict(*others: Access, first: Access = OPENS, last: Access = RENAMES) -> Conflict:
    left, right = Edge(first, others, inferred=False), Edge(last, others, inferred=False)
    return Conflict("0.1", left, right, None, others, (first,), (last,))


def test_who_writes_a_file_must_have_it_alone_until_it_is_renamed() -> None:
    told = conflict(OTHER_OPENS, OTHER_RENAMES)
    assert kind_of(told, PASSED) == kinds.OVERWRITTEN
    assert essential(told, PASSED) == told
    words = summary_of(kinds.OVERWRITTEN, told, ())
    assert [f"prog.py:{line}" in words for line in (3, 5)] == [True, True]
    assert "thread 0.2" in words
    assert "tempfile.mkstemp" in help_of_same_file(told)


@pytest.mark.parametrize(
    "told",
    [
        conflict(OTHER_RENAMES),  # it takes away what it has not written
        conflict(OTHER_OPENS, OTHER_RENAMES._replace(thread="0.3")),
        conflict(OTHER_OPENS._replace(writes=False, reads=True), OTHER_RENAMES),
        conflict(OTHER_OPENS, OTHER_RENAMES, first=OPENS._replace(writes=False, reads=True)),
        conflict(OTHER_OPENS, OTHER_RENAMES, first=OPENS._replace(thing=REAL)),
        conflict(OTHER_OPENS, OTHER_RENAMES._replace(new=RENAMES.old._replace(text="True")), last=RENAMES),
    ],
    ids=["not written", "another thread", "only read", "own only read", "another file", "still there"],
)
def test_what_is_no_file_of_two_writers(told: Conflict) -> None:
    assert kind_of(told, PASSED) != kinds.OVERWRITTEN
    assert help_of_same_file(told) == ""

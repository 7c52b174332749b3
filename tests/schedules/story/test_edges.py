"""What single edges of a conflict say."""

from __future__ import annotations

import pytest

from replay_dd.schedules.observation import Thing
from replay_dd.schedules.story.edges import misses
from tests.schedules.story.test_kinds import NOTHING, X, access


@pytest.mark.parametrize(("thing", "decides"), [(X, True), (("global", 1, "x"), True), (("cell", 1, "x"), False)])
def test_who_finds_no_attribute_and_makes_it_has_decided_to(thing: Thing, decides: bool) -> None:
    first = access("0.1", 1, 1, "reads", thing, old=NOTHING)
    last = access("0.1", 2, 2, "stores", thing)
    assert misses(first, last) == decides
    assert not misses(first._replace(old=last.new), last)

"""Which of several conflicts a story is about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.schedules.isolating.answer import GuiltySwitch
from replay_dd.schedules.story import causes as module
from replay_dd.schedules.story.causes import try_conflict
from replay_dd.schedules.story.links import Link, Links
from tests.schedules.logs import PASSED
from tests.schedules.story.made_accesses import Y, access, conflict_of, number, switch
from tests.schedules.story.test_twin_guards import seen, torn

LOCK = number("lock")._replace(number=8)


@pytest.mark.parametrize(("made", "is_cause"), [(LOCK, True), (number(2), False)])
def test_of_two_locks_only_how_they_were_made_comes_before_what_is_torn(
    made: Any, is_cause: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update of anything else at an earlier choice does not explain why the locks did not keep them apart."""
    look, store = access("0.1", 1, 1, "reads", Y), access("0.1", 2, 3, "stores", Y, new=made)
    earlier = conflict_of([look, access("0.2", 1, 2, "stores", Y), store], 2, 2)
    links = Links((Link(look, store, True),))
    trials = SimpleNamespace(
        twins=SimpleNamespace(failing=seen({8: "Cache.lock", 9: "Cache.lock"}), failing_hang=None, failing_flow=None),
        ending=PASSED,
        needs_several=True,
        found=SimpleNamespace(choices=(switch(2),)),
        links=lambda _, conflict: (conflict, links),
    )
    for name in ("came_back", "late_lock", "interrupted_check", "interrupted_cross_check"):
        monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(module, "interrupted_update", lambda *_: earlier)
    isolated = GuiltySwitch(switch(50), None)
    at, tried, _ = try_conflict(cast(Any, trials), isolated, torn())
    assert (at is not isolated) == is_cause
    assert (tried.conflict == earlier) == is_cause

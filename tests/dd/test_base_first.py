"""The base of a simplification is tested first, and then not again."""

from __future__ import annotations

import pytest

from replay_dd.dd import EMPTY, BaseFirst, DDMin, IntervalSet, PrefixBisection, Search
from replay_dd.outcome import Outcome


@pytest.mark.parametrize("make", [DDMin, PrefixBisection])
@pytest.mark.parametrize("needed", [set(), {3}, {0, 5}])
def test_the_base_is_the_answer_if_it_fails(make: type[DDMin] | type[PrefixBisection], needed: set[int]) -> None:
    search = Search(BaseFirst(make(IntervalSet.range(0, 8))))
    asked = []
    while (configuration := search.ask()) is not None:
        asked.append(configuration)
        assert search.deltas_left >= len(needed)
        search.copy().tell(configuration, Outcome.FAIL)  # a copy is independent
        search.tell(configuration, Outcome.FAIL if needed <= set(configuration) else Outcome.UNRESOLVED)
    assert asked[0] == EMPTY
    assert asked.count(EMPTY) == 1
    assert (set(search.best.c_fail), search.deltas_left) == (needed, len(needed))
    assert (len(asked) == 1) == (not needed)


def test_a_base_of_its_own() -> None:
    base = IntervalSet.of([2])
    search = Search(BaseFirst(DDMin(IntervalSet.range(0, 4), base=base)))
    assert search.ask() == base
    search.tell(base, Outcome.FAIL)
    assert search.ask() is None
    assert (search.best.c_pass, search.best.c_fail, search.done) == (base, base, True)

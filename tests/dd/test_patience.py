"""When a search gives up since its questions lead nowhere."""

from __future__ import annotations

from replay_dd.dd import DD, EMPTY, IntervalSet
from replay_dd.outcome import Outcome

ALL = IntervalSet.range(0, 100)
GUILTY = 50


def test_a_search_gives_up_after_so_many_different_questions_that_tell_nothing() -> None:
    search, asked = DD(EMPTY, ALL, patience=7), set()
    while (question := search.ask()) is not None:
        asked.add(question)
        search.tell(Outcome.UNRESOLVED)
    assert (search.gave_up, len(asked), search.difference) == (True, 7, ALL)


def test_a_search_goes_on_while_small_steps_lead_on_together() -> None:
    search = DD(EMPTY, ALL, patience=300)
    while (question := search.ask()) is not None:
        # Only single deltas can be left out.
        fails = GUILTY in question and question.count == search.difference.count - 1
        search.tell(Outcome.FAIL if fails else Outcome.UNRESOLVED)
    assert (search.gave_up, search.difference) == (False, IntervalSet.of([GUILTY]))

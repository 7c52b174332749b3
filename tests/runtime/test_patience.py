"""For how long runs wait for data of their own."""

from __future__ import annotations

import pytest

from replay_dd.schedules.runtime.baton.patience import GRACE_S, INSIDE, NEAR, Patience


@pytest.mark.once
def test_an_exact_replay_outlasts_a_stall_of_the_kernel() -> None:
    patience = Patience()
    patience.follow(exact=True, patience_s=0, recorded_s=0.01)
    assert patience.seconds(NEAR, sender_runs=False) > 10 * GRACE_S
    assert patience.seconds(INSIDE, sender_runs=False) == GRACE_S


@pytest.mark.once
def test_a_run_that_is_not_the_recorded_one_does_not_wait_for_it() -> None:
    patience = Patience()
    patience.follow(exact=True, patience_s=0, recorded_s=0.01)
    patience.lost = True
    assert patience.seconds(NEAR, sender_runs=False) == GRACE_S
    patience.follow(exact=False, patience_s=0, recorded_s=0.01)
    assert patience.seconds(NEAR, sender_runs=False) == GRACE_S

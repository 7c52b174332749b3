"""Who touches the same thing next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.schedules.observed.touches import MOST_OTHERS, Touch, Touched

THING = (1, "value")
steps = st.lists(st.tuples(st.sampled_from(["0.1", "0.2", "0.3", "0.4", "0.5"]), st.integers(0, 1)), min_size=1)


def touched_by(rows: list[tuple[str, int]]) -> list[Touch]:
    """Touches by these threads, each so long after the one before."""
    touches: list[Touch] = []
    for number, (thread, later) in enumerate(rows):
        global_time = later + (touches[-1].global_time if touches else 0)
        touches.append(Touch(thread, number, global_time, number, THING, True))
    return touches


@given(steps)
def test_each_other_thread_comes_with_its_next_touch_or_else_with_its_first(rows: list[tuple[str, int]]) -> None:
    touches = touched_by(rows)
    touched = Touched(touches)
    for touch in touches:
        expected: dict[str, Touch] = {}
        for other in [*(one for one in touches if one.global_time > touch.global_time), *touches]:
            if other.thread != touch.thread:
                expected.setdefault(other.thread, other)
        assert touched.others(touch) == list(expected.values())[:MOST_OTHERS]

"""What a flow is reduced by: every smaller flow is well formed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from replay_dd.web.flow import flow_from
from replay_dd.web.step_deltas import step_deltas_of
from tests.web.flows import VIEWPORT, click, key

GOING = {"type": "navigate", "url": "http://127.0.0.1/"}


@st.composite
def steps(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Steps in which every pressed key is later released, with anything in between."""
    made: list[dict[str, Any]] = []
    held: list[str] = []
    for _ in range(draw(st.integers(0, 15))):
        name = draw(st.sampled_from("abC"))
        what = draw(st.sampled_from(["click", "press", "release", "navigate"]))
        if what == "press":
            made.append(key(name)[0])
            held += [] if name in held else [name]
        elif what == "release" and held:
            made.append(key(held.pop())[1])
        elif what == "navigate":
            made.append(GOING)
        else:
            made.append(click("#a"))
    return [*made, *(key(name)[1] for name in reversed(held))]


@given(steps(), st.booleans(), st.data())
def test_every_part_is_well_formed(some: list[dict[str, Any]], viewport: bool, data: st.DataObject) -> None:
    whole = flow_from({"title": "t", "steps": [*([VIEWPORT] if viewport else []), GOING, *some]})
    units = step_deltas_of(whole)
    chosen = data.draw(st.sets(st.integers(0, len(units.deltas) - 1)) if units.deltas else st.just(set()))
    numbers = units.steps_of(chosen)
    assert list(numbers) == sorted(set(numbers))
    part = whole.only(numbers)
    assert [step.type for step in part.steps][: 1 + viewport] == [*(["setViewport"] * viewport), "navigate"]
    held: set[str] = set()
    for step in part.steps:
        if step.type == "keyDown":
            held.add(step.data["key"])
        elif step.type == "keyUp":
            assert step.data["key"] in held
            held.remove(step.data["key"])
    assert not held


@given(steps())
def test_all_deltas_make_the_whole(some: list[dict[str, Any]]) -> None:
    whole = flow_from({"title": "t", "steps": [GOING, *some]})
    units = step_deltas_of(whole)
    assert units.steps_of(range(len(units.deltas))) == tuple(range(len(whole.steps)))
    counted = len(units.fixed) + sum(len(delta) for delta in units.deltas)
    assert counted == len(whole.steps)


def test_a_fixed_step_is_in_no_delta() -> None:
    whole = flow_from({"title": "t", "steps": [GOING, click("#a"), click("#b"), click("#c")]})
    units = step_deltas_of(whole, also_fixed=[3])
    assert units.fixed == (0, 3)
    assert units.deltas == ((1,), (2,))

"""Flows whose failure shows in some of the runs only. The browser is simulated: real ones cost a second each."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from replay_dd.errors.program import DoesNotFailError, NotReproducedError, PageUnreachableError
from replay_dd.experiment.baseline import Rate
from replay_dd.web.browser import WebBrowser
from replay_dd.web.failure import ASSERTION, CONSOLE_ASSERTION, PAGE_ERROR, Failure
from replay_dd.web.flow import Flow
from replay_dd.web.minimize import FlowIsolation, minimize
from replay_dd.web.player import Playback
from tests.web.flows import click, flow

pytestmark = pytest.mark.once

NO_BROWSER = cast(WebBrowser, None)
WHOLE = flow("http://127.0.0.1:9/", *(click(f"#b{number}") for number in range(20)))
HEAD = 2


def failure(text: str, step: int, kind: str = PAGE_ERROR) -> Failure:
    return Failure(kind, text, f"/page.js:{len(text)}:1" if kind == PAGE_ERROR else "", text, step)


def pressed(played: Flow) -> list[str]:
    """The buttons that a flow clicks."""
    return [str(step.data["selectors"][0][0]) for step in played.steps[HEAD:]]


Page = Callable[[Flow, random.Random], Sequence[Failure]]


@pytest.fixture
def simulate(monkeypatch: pytest.MonkeyPatch) -> Callable[[Page, int], list[Flow]]:
    """Replace the player by a page: what fails if these steps are done; returns the flows played."""

    def replaced(page: Page, seed: int) -> list[Flow]:
        chance = random.Random(seed)
        played: list[Flow] = []

        def play(flow: Flow, browser: WebBrowser, **how: Any) -> Playback:
            played.append(flow)
            found: list[Failure] = []
            for one in page(flow, chance):
                found.append(one)
                if how["until"](one):
                    break
            return Playback(tuple(found), (), (0.0,) * len(flow.steps), reached=True)

        monkeypatch.setattr("replay_dd.web.circumstance.play", play)
        return played

    return replaced


def needs(*buttons: str, rate: float, text: str = "TypeError: gone") -> Page:
    """A page that fails at a rate if all these buttons were pressed, as soon as the last one is."""

    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        there = pressed(played)
        if not set(buttons) <= set(there) or chance.random() >= rate:
            return ()
        return [failure(text, HEAD + max(there.index(button) for button in buttons))]

    return page


@pytest.mark.parametrize("rate", [0.9, 0.6])
def test_five_of_five_searches_find_the_same_steps(simulate: Callable[..., object], rate: float) -> None:
    answers: list[FlowIsolation] = []
    for seed in range(5):
        simulate(needs("#b3", "#b11", rate=rate), seed)
        answers.append(minimize(WHOLE, NO_BROWSER))
    assert [pressed(found.flow) for found in answers] == [["#b3", "#b11"]] * 5
    for found in answers:
        assert found.isolation.baseline.intermittent or found.isolation.baseline.rate.steady
        assert found.isolation.verified


def test_a_steady_failure_is_cheap(simulate: Callable[..., object]) -> None:
    simulate(needs("#b3", "#b11", rate=1), 1)
    found = minimize(WHOLE, NO_BROWSER).isolation
    assert (found.baseline.rate, found.baseline.repeat, found.proof.failing) == (Rate(6, 6), 1, Rate(3, 3))
    # The whole, the head alone, the tests, each of the two steps left out again, the proof.
    assert found.runs <= 6 + 1 + len(found.steps) + 2 + 3


def test_given_repeats_are_kept(simulate: Callable[..., object]) -> None:
    simulate(needs("#b3", rate=0.6), 3)
    found = minimize(WHOLE, NO_BROWSER, repeat=6)
    assert pressed(found.flow) == ["#b3"]
    assert (found.isolation.baseline.repeat, found.isolation.baseline.intermittent) == (6, False)


def test_the_more_serious_of_two_failures_is_sought_if_it_shows_often_enough(simulate: Callable[..., object]) -> None:
    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        always = needs("#b2", rate=1)(played, chance)
        noise = [failure("too many items", one.step, CONSOLE_ASSERTION) for one in always]
        return [*noise, *needs("#b7", rate=0.7)(played, chance)]

    for seed in range(3):
        simulate(page, seed)
        found = minimize(WHOLE, NO_BROWSER)
        assert (found.failure.kind, pressed(found.flow)) == (PAGE_ERROR, ["#b7"])


def test_a_rare_failure_does_not_hide_one_that_shows_always(simulate: Callable[..., object]) -> None:
    runs = 0

    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        nonlocal runs
        runs += 1
        always = needs("#b2", rate=1)(played, chance)
        return [*(failure("a bad day", 3) for _ in range(runs == 1)), *always]

    simulate(page, 1)
    found = minimize(WHOLE, NO_BROWSER)
    assert (found.failure.text, pressed(found.flow)) == ("TypeError: gone", ["#b2"])
    assert found.isolation.baseline.rate.runs >= 6


def test_a_failure_that_is_seen_late_in_some_runs_keeps_what_comes_before(simulate: Callable[..., object]) -> None:
    """It needs step 15, but is seen after step 4 in some runs: an answer from the server comes when it comes."""

    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        there = pressed(played)
        if "#b15" in there and "#b2" in there:
            return [failure("late", HEAD + there.index("#b15"))]
        return [failure("late", HEAD + there.index("#b2"))] if "#b2" in there and chance.random() < 0.4 else []

    simulate(page, 0)
    found = minimize(WHOLE, NO_BROWSER)
    assert "#b2" in pressed(found.flow)
    assert found.isolation.verified


def test_what_never_fails_is_told_after_twelve_runs(simulate: Callable[..., list[Flow]]) -> None:
    played = simulate(needs("#no", rate=1), 1)
    with pytest.raises(DoesNotFailError, match="12 times"):
        minimize(WHOLE, NO_BROWSER)
    assert len(played) == 12


def test_what_fails_too_rarely_is_refused(simulate: Callable[..., object]) -> None:
    runs = 0

    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        nonlocal runs
        runs += 1
        return [failure("once", HEAD)] if runs == 3 else []

    simulate(page, 1)
    with pytest.raises(NotReproducedError, match="1 of 24 runs: too rarely") as caught:
        minimize(WHOLE, NO_BROWSER)
    assert "--settle" in str(caught.value.hint)
    assert "pace" not in str(caught.value.hint)


def test_an_assertion_that_fails_sometimes(simulate: Callable[..., object]) -> None:
    whole = flow(
        "http://127.0.0.1:9/",
        click("#b0"),
        click("#b1"),
        click("#b2"),
        {"type": "waitForExpression", "expression": "true"},
    )

    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        asserted = [number for number, step in enumerate(played.steps) if step.type == "waitForExpression"]
        bad = any(step.data.get("selectors") == [["#b1"]] for step in played.steps) and chance.random() < 0.6
        return [failure("wait until it holds", number, ASSERTION) for number in asserted if bad]

    for seed in range(5):
        simulate(page, seed)
        found = minimize(whole, NO_BROWSER)
        assert found.kept == (0, 1, 3, 5)


def test_a_server_that_is_down_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    played = []

    def play(flow: Flow, browser: WebBrowser, **how: Any) -> Playback:
        played.append(flow)
        return Playback((), ((1, "refused"),), (0.0,) * len(flow.steps), reached=False)

    monkeypatch.setattr("replay_dd.web.circumstance.play", play)
    with pytest.raises(PageUnreachableError, match="refused"):
        minimize(WHOLE, NO_BROWSER)
    assert len(played) <= 2

"""Flows whose failure shows in some of the runs only. The browser is simulated: real ones cost a second each."""

from __future__ import annotations

import math
import random
import re
import shlex
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from replay_dd.dd import IntervalSet
from replay_dd.errors.program import DoesNotFailError, NotReproducedError, PageUnreachableError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS, MEASURED_RUNS, Rate
from replay_dd.outcome import Outcome
from replay_dd.web.browser import WebBrowser
from replay_dd.web.browsers import Browsers
from replay_dd.web.circumstance import (
    LEAST_HANG_S,
    LEAST_STEP_MS,
    MISSED_STEP_MS,
    STEP_TIME_FACTOR,
    FlowRun,
    FlowSteps,
)
from replay_dd.web.failure import ASSERTION, CONSOLE_ASSERTION, HANG, PAGE_ERROR, Failure
from replay_dd.web.flow import Flow
from replay_dd.web.hangs import HANG_S
from replay_dd.web.minimize import PAUSE_S, FlowIsolation, minimize
from replay_dd.web.player import Limits, Playback
from tests.web.flows import click, flow

pytestmark = pytest.mark.once

NO_BROWSER = cast(WebBrowser, SimpleNamespace(count=1, starts_server=False, use=lambda work: work(None)))
TWO_BROWSERS = cast(Browsers, SimpleNamespace(count=2, starts_server=False, use=lambda work: work(None)))
WHOLE = flow("http://127.0.0.1:9/", *(click(f"#b{number}") for number in range(20)))
HEAD = 2
WITH_ASSERTION = flow(
    "http://127.0.0.1:9/",
    *(click(f"#b{number}") for number in range(3)),
    {"type": "waitForExpression", "expression": "true"},
)


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


def test_two_browsers_give_the_answer_of_one(simulate: Callable[..., object]) -> None:
    simulate(needs("#b3", "#b11", rate=1), 1)
    one, two = (minimize(WHOLE, browsers).isolation for browsers in (NO_BROWSER, TWO_BROWSERS))
    assert two.baseline.jobs == 2
    assert (two.failing.configuration, two.tests, two.requested) == (
        one.failing.configuration,
        one.tests,
        one.requested,
    )
    assert [step.outcome for step in two.steps] == [step.outcome for step in one.steps]
    # What was tried in vain is no test, but it was a run.
    assert two.runs >= one.runs


def test_flows_that_disturb_each_other_are_played_one_at_a_time(simulate: Callable[..., object]) -> None:
    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        alone = threading.current_thread() is threading.main_thread()
        return needs("#b3", rate=1, text="gone" if alone else "somebody has changed this")(played, chance)

    simulate(page, 1)
    found = minimize(WHOLE, TWO_BROWSERS)
    assert (pressed(found.flow), found.failure.text) == (["#b3"], "gone")
    assert found.isolation.baseline.jobs == 1
    assert "somebody has changed this" in found.isolation.baseline.disturbed


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
        always = [failure("too many", one.step, CONSOLE_ASSERTION) for one in needs("#b2", rate=1)(played, chance)]
        return [*(failure("a bad day", 3) for _ in range(runs == 1)), *always]

    simulate(page, 1)
    found = minimize(WHOLE, NO_BROWSER)
    assert (found.failure.text, pressed(found.flow)) == ("too many", ["#b2"])
    assert found.isolation.baseline.rate == Rate(12, 12)


def test_the_flow_is_cut_off_where_the_failure_was_seen_latest(simulate: Callable[..., object]) -> None:
    """An answer from the server comes when it comes."""
    runs = 0

    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        nonlocal runs
        runs += 1
        there = pressed(played)
        later = min(there.index("#b2") + 7 * (runs == 4), len(there) - 1) if "#b2" in there else 0
        return [failure("late", HEAD + later)] if "#b2" in there else []

    simulate(page, 0)
    found = minimize(WHOLE, NO_BROWSER)
    assert found.isolation.deltas_before == 10
    assert pressed(found.flow) == ["#b2"]


def test_in_a_proof_no_step_may_be_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = Playback((failure("TypeError", 5),), ((3, "it is not there"),), (0.0,) * 22, reached=True)
    monkeypatch.setattr("replay_dd.web.circumstance.play", lambda *given, **how: skipped)
    steps = FlowSteps(WHOLE, NO_BROWSER, text=None, settle_s=0.0, algorithm="bisection")
    seen = steps.run(steps.universe, fresh=True)
    steps.settle([seen, seen])
    assert steps.judge(seen).outcome is Outcome.FAIL
    assert steps.judge(steps.prove(steps.universe, seen)).outcome is Outcome.UNRESOLVED


@pytest.mark.parametrize(
    ("failures", "missed", "words"),
    [
        ([failure("gone", 5)], [], ""),
        ([failure("gone", 7)], [], ""),
        ([failure("gone", 5), failure("too much", 6)], [], "page error: gone (/page.js:4:1)"),
        ([], [], "no failure"),
        ([], [(3, "it is not there")], "step 4 could not be done: it is not there"),
    ],
)
def test_what_a_flow_does_beside_others_is_compared(
    failures: list[Failure], missed: list[tuple[int, str]], words: str
) -> None:
    steps = FlowSteps(WHOLE, NO_BROWSER, text=None, settle_s=0.0, algorithm="bisection")
    alone = Playback((failure("gone", 5),), (), (0.0,) * 22, reached=True)
    beside = Playback(tuple(failures), tuple(missed), (0.0,) * 22, reached=True)
    assert steps.compare(FlowRun(alone, evidence=False), FlowRun(beside, evidence=False)) == words


def test_tests_are_told_apart_by_the_step_that_they_could_not_do() -> None:
    steps = FlowSteps(WHOLE, NO_BROWSER, text=None, settle_s=0.0, algorithm="bisection")
    missed = [Playback((), ((number, "it is not there"),), (0.0,) * 22, reached=True) for number in (3, 3, 7)]
    judged = [steps.judge(FlowRun(playback, evidence=False)) for playback in missed]
    assert [one.words for one in judged[1:]] == [f"could not do step {n}: it is not there" for n in (4, 8)]
    assert len({one.signature for one in judged}) == 2


def test_a_configuration_is_known_by_its_steps() -> None:
    """Its deltas are counted anew when the failure sought turns out to be an assertion, which always stays."""
    steps = FlowSteps(WITH_ASSERTION, NO_BROWSER, text=None, settle_s=0.0, algorithm="bisection")
    one = IntervalSet.of([1])
    before = steps.key(one)
    seen = Playback((failure("does not hold", 5, ASSERTION),), (), (0.0,) * 6, reached=True)
    steps.settle([FlowRun(seen, evidence=False)])
    assert steps.key(one) != before


def test_what_never_fails_is_told_after_twelve_runs(simulate: Callable[..., list[Flow]]) -> None:
    played = simulate(needs("#no", rate=1), 1)
    with pytest.raises(DoesNotFailError, match="12 times"):
        minimize(WHOLE, NO_BROWSER)
    assert len(played) == 12 + MEASURED_RUNS  # the last ones with pauses


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
    def page(played: Flow, chance: random.Random) -> Sequence[Failure]:
        asserted = [number for number, step in enumerate(played.steps) if step.type == "waitForExpression"]
        bad = any(step.data.get("selectors") == [["#b1"]] for step in played.steps) and chance.random() < 0.6
        return [failure("wait until it holds", number, ASSERTION) for number in asserted if bad]

    for seed in range(5):
        simulate(page, seed)
        found = minimize(WITH_ASSERTION, NO_BROWSER)
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


def _played(monkeypatch: pytest.MonkeyPatch, page: Callable[[Flow, Limits], Playback]) -> list[tuple[Flow, Limits]]:
    """Replace the player by a page that sees the limits; returns what was played."""
    seen: list[tuple[Flow, Limits]] = []

    def play(flow: Flow, browser: WebBrowser, *, limits: Limits, **how: Any) -> Playback:
        seen.append((flow, limits))
        return page(flow, limits)

    monkeypatch.setattr("replay_dd.web.circumstance.play", play)
    return seen


def test_a_flow_that_does_not_fail_is_tried_with_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    def page(flow: Flow, limits: Limits) -> Playback:
        fails = limits.pause_s is not None and "#b3" in pressed(flow)
        found = (failure("gone", HEAD + pressed(flow).index("#b3")),) if fails else ()
        return Playback(found, (), (0.0,) * len(flow.steps), reached=True)

    seen = _played(monkeypatch, page)
    found = minimize(WHOLE, NO_BROWSER)
    assert (pressed(found.flow), found.pause_s) == (["#b3"], PAUSE_S)
    assert [limits.pause_s for _, limits in seen[:INTERMITTENT_RUNS]] == [None] * INTERMITTENT_RUNS
    _played(monkeypatch, lambda flow, limits: Playback((), (), (0.0,) * len(flow.steps), reached=True))
    with pytest.raises(DoesNotFailError):
        minimize(WHOLE, NO_BROWSER)


@pytest.mark.parametrize(
    "written",
    ["TypeError: gone", "it's $5 (or [6]) + 1", "TypeError: " + "Cannot read properties of undefined " * 3, "x" * 100],
)
def test_an_error_in_the_console_is_proposed_as_the_failure(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    _played(monkeypatch, lambda flow, limits: Playback((), (), (0.0,) * len(flow.steps), True, (written,)))
    with pytest.raises(DoesNotFailError) as error:
        minimize(WHOLE, NO_BROWSER)
    (word,) = re.findall(r"`--grep (.*?)`", error.value.hint or "")
    (pattern,) = shlex.split(word)
    assert re.match(pattern, written)


def test_errors_in_the_console_are_told_if_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    console = ("Failed to load resource: 404", "TypeError: gone", "Bad sum")
    _played(monkeypatch, lambda flow, limits: Playback((), (), (0.0,) * len(flow.steps), True, console))
    with pytest.raises(DoesNotFailError, match=r'"TypeError: gone", and 2 more'):
        minimize(WHOLE, NO_BROWSER)


def test_a_step_has_the_time_of_those_left_out_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def page(flow: Flow, limits: Limits) -> Playback:
        there = pressed(flow)
        found = (failure("gone", HEAD + there.index("#b19")),) if {"#b2", "#b19"} <= set(there) else ()
        missing = ((HEAD + there.index("#b7"), "missing"),) if "#b7" in there else ()
        return Playback(found, missing, (0.0, 9.0, *(2.0 if one == "#b5" else 0.125 for one in there)), reached=True)

    seen = _played(monkeypatch, page)
    assert pressed(minimize(WHOLE, NO_BROWSER).flow) == ["#b2", "#b19"]
    first, second = (limits.steps_ms for _, limits in seen[:2])
    assert first == (math.inf,) * len(WHOLE.steps)
    # What the first run could not do is not waited for as long again.
    assert second == tuple(MISSED_STEP_MS if step == HEAD + 7 else math.inf for step in range(len(WHOLE.steps)))
    limited = {tuple(pressed(flow)): limits.steps_ms or () for flow, limits in seen}
    # Fifteen short steps and the long one are left out before the last one; the missing and the failing one count not.
    own = STEP_TIME_FACTOR * 125.0
    assert limited["#b0", "#b1", "#b19"][HEAD:] == (own, own, LEAST_STEP_MS + 15 * 125.0 + 2000.0)


@pytest.mark.parametrize("kind", [PAGE_ERROR, HANG])
def test_where_a_page_hangs_is_asked_only_where_that_may_be_sought(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    asked: list[bool] = []

    def play(flow: Flow, browser: WebBrowser, *, tells_where: bool, **how: Any) -> Playback:
        asked.append(tells_where)
        found = (failure("gone", HEAD + pressed(flow).index("#b9"), kind),) if "#b9" in pressed(flow) else ()
        return Playback(found, (), (0.0,) * len(flow.steps), reached=True)

    monkeypatch.setattr("replay_dd.web.circumstance.play", play)
    minimize(WHOLE, NO_BROWSER)
    assert asked[:MEASURED_RUNS] == [True] * MEASURED_RUNS  # until the failure sought is known
    assert set(asked[MEASURED_RUNS:]) == {kind == HANG}


@pytest.mark.parametrize(
    ("slowest_s", "hang_s"), [(0.0, LEAST_HANG_S), (0.5, STEP_TIME_FACTOR * 0.5), (2.0, HANG_S)], ids=str
)
def test_a_page_of_quick_answers_hangs_sooner_during_the_search(
    monkeypatch: pytest.MonkeyPatch, slowest_s: float, hang_s: float
) -> None:
    def page(flow: Flow, limits: Limits) -> Playback:
        there = pressed(flow)
        found = (failure("gone", HEAD + there.index("#b9")),) if "#b9" in there else ()
        return Playback(found, (), (5.0,) * len(flow.steps), reached=True, slowest_s=slowest_s)

    seen = _played(monkeypatch, page)
    minimize(WHOLE, NO_BROWSER)
    searched = {limits.hang_s for flow, limits in seen if HEAD < len(flow.steps) < len(WHOLE.steps) and limits.steps_ms}
    assert (seen[0][1].hang_s, searched) == (HANG_S, {hang_s})

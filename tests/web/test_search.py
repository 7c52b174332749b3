"""What minimizing makes of playbacks, of a page that is simulated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replay_dd.errors.program import DoesNotFailError, DoesNotPassError, PageUnreachableError
from replay_dd.experiment.baseline import INTERMITTENT_RUNS, Rate
from replay_dd.experiment.journal import SearchedFor, kept_in
from replay_dd.outcome import Outcome
from replay_dd.web.flow import ALGORITHMS
from replay_dd.web.minimize import minimize
from tests.web.flows import change, click, flow, key, visible
from tests.web.simulated import NoBrowser, SimulatedPage, described

pytestmark = pytest.mark.once

PAGE = "http://127.0.0.1:9/page.html"
BROWSER: Any = NoBrowser()


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> SimulatedPage:
    """What the flows are played to."""
    simulated = SimulatedPage()
    monkeypatch.setattr("replay_dd.web.circumstance.play", simulated.play)
    return simulated


def test_a_journal_knows_what_was_played(tmp_path: Path) -> None:
    # The last step fails, some time after it: so the flow is cut off at the same step in both searches.
    steps = [click("#add"), *key("Shift"), click("#add"), click("#clear"), *key("x"), change("#search", "2")]
    counts, answers = [], []
    for _ in range(2):
        with kept_in(tmp_path / "journal", SearchedFor("web", "", {}, {})) as journal:
            answers.append(described(minimize(flow(PAGE, *steps), BROWSER).flow.steps))
            counts.append((journal.recalled, journal.added))
    assert answers[0] == answers[1] == ["#clear", "#search"]
    assert counts[0][0] == counts[1][1] == 0
    assert counts[0][1] == counts[1][0] > 0


def test_a_step_that_another_one_makes_possible_and_a_console_assertion() -> None:
    steps = [
        click("#add"),
        change("#search", "1"),
        click("#menu"),
        click("#add"),
        *key("y"),
        click("#add"),
        click("#broken"),
    ]
    found = minimize(flow(PAGE, *steps, click("#menu")), BROWSER)
    # Any one of the additions will do, before or after the menu.
    assert sorted(described(found.flow.steps)) == ["#add", "#broken", "#menu"]
    assert found.failure.kind == "console assertion"
    assert "too many items" in found.failure.text
    assert found.isolation.proof.failing == Rate(3, 3)


def test_what_only_other_steps_have_sent_to_the_server_is_told(
    page: SimulatedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.sends = True
    whole = flow(PAGE, click("#add"), click("#clear"), change("#search", "1"))
    (note,) = minimize(whole, BROWSER).notes
    assert "sent something to the server (POST /add)" in note
    monkeypatch.setattr(NoBrowser, "starts_server", True)
    assert minimize(whole, BROWSER).notes == ()


def test_what_is_sent_less_often_is_told(page: SimulatedPage) -> None:
    page.sends = True
    whole = flow(PAGE, *[click("#add")] * 3, click("#menu"), click("#broken"))
    found = minimize(whole, BROWSER)
    assert described(found.flow.steps).count("#add") == 1
    assert "sent something to the server (POST /add)" in found.notes[0]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_text_that_is_looked_for(algorithm: str) -> None:
    # The page error does not count if a text is given.
    steps = [click("#add"), click("#clear"), change("#search", "1"), click("#add")]
    found = minimize(flow(PAGE, *steps), BROWSER, text="Bad (sum|product)", algorithm=algorithm)
    assert described(found.flow.steps) == ["#clear"]
    assert found.failure.summary == "text: Bad sum"


def test_a_limit_gives_the_best_so_far() -> None:
    steps = [click("#add"), click("#add"), click("#clear"), change("#search", "1")]
    found = minimize(flow(PAGE, *steps), BROWSER, max_tests=1)
    assert not found.isolation.complete
    assert len(found.isolation.steps) == 1
    assert len(found.flow.steps) >= 4
    assert found.isolation.steps[0].outcome in Outcome


def test_a_page_that_fails_by_itself(page: SimulatedPage) -> None:
    page.fails_at = lambda number: True
    found = minimize(flow(PAGE, click("#add")), BROWSER)
    assert described(found.flow.steps) == []
    assert found.isolation.steps == ()
    assert found.isolation.complete
    assert found.isolation.proof.failing == Rate(3, 3)


def test_steps_that_could_not_be_done_are_told() -> None:
    """The page may have failed because of that, and not as it did for whoever recorded the flow."""
    steps = [click("#gone", timeout=100), click("#add"), click("#clear"), change("#search", "1"), click("#add")]
    found = minimize(flow(PAGE, *steps), BROWSER)
    (note,) = found.notes
    assert "step 3, its element is not on the page" in note
    assert minimize(flow(PAGE, *steps[1:]), BROWSER).notes == ()


def test_a_server_that_keeps_what_earlier_runs_did(page: SimulatedPage) -> None:
    # It fails each second time, and after the baseline each time.
    page.fails_at = lambda number: number % 2 == 0 or number > INTERMITTENT_RUNS
    found = minimize(flow(PAGE, click("#add")), BROWSER)
    assert described(found.flow.steps) == []
    (note,) = found.notes
    assert "keep what earlier runs did" in note


def test_two_steps_that_cancel_each_other_are_left_out() -> None:
    """Without one of the two clicks on the menu, #broken is not there when it is clicked."""
    steps = [click("#menu"), click("#add"), click("#menu"), click("#menu"), click("#broken")]
    found = minimize(flow(PAGE, *steps), BROWSER)
    assert described(found.flow.steps) == ["#menu", "#add", "#broken"]


@pytest.mark.parametrize(
    "steps, error, words",
    [
        ([click("#add"), click("#gone", timeout=100)], DoesNotFailError, "step 4 could not be done"),
        ([click("#add"), visible("#gone")], DoesNotPassError, "without any action"),
    ],
)
def test_flows_that_cannot_be_minimized(steps: list[dict[str, Any]], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        minimize(flow(PAGE, *steps), BROWSER)


def test_a_server_that_is_not_running(page: SimulatedPage) -> None:
    page.is_there = False
    with pytest.raises(PageUnreachableError, match="cannot be loaded"):
        minimize(flow(PAGE, click("#add")), BROWSER)

"""What was tried, and the links that were tried, in words and on the page."""

from __future__ import annotations

import pytest

from replay_dd.report.links import links_as_text, links_in_words
from replay_dd.report.page.tried import links_part
from replay_dd.report.tried import tried_in_words
from replay_dd.schedules.story.experiment_results import Experiments
from replay_dd.schedules.story.links import Link, Links
from tests.report.observed import access, value

pytestmark = pytest.mark.once

FIRST, SECOND, THIRD = access(1, "0.1", "reads", "5"), access(2, "0.2", "stores", "6"), access(3, "0.1", "stores", "7")
ONE, OTHER = Link(FIRST, SECOND, proved=True), Link(SECOND, THIRD, proved=True)
LOST = Link(FIRST, SECOND, proved=False, why_not="it fails as well")


def test_one_proved_order_passes_when_turned_round() -> None:
    (line,) = [" ".join(text.split()) for _, text in links_in_words(Links((ONE,)))]
    assert line.endswith("; with only these two reversed, it passes")


def test_two_proved_orders_are_both_needed() -> None:
    labels, texts = zip(*links_in_words(Links((LOST, ONE, OTHER))), strict=True)
    assert labels == ("proved", "proved", "not proved", "")
    assert not any("reversed" in text for text in texts[:3])
    assert texts[-1] == "Both proved orders are needed: with either one reversed, it passes."
    *_, last = links_in_words(Links((ONE, OTHER, OTHER)))
    assert last[1] == "All proved orders are needed: with any one reversed, it passes."
    told = " ".join(" ".join(links_as_text(Links((ONE, OTHER)))).split())
    assert told.count("reversed") == 1


def test_the_page_tells_every_link() -> None:
    (page,) = map(str, links_part(Links((LOST, ONE, OTHER))))
    assert page.count("<li") == 4
    assert page.count("✓") == 2
    assert page.count("? not proved: ") == 1


def test_a_deletion_names_what_it_deletes() -> None:
    deletes = SECOND._replace(does="deletes", writes=True, old=value("'ada'"), new=value("nothing"))
    ((_, text),) = links_in_words(Links((ONE._replace(second=deletes),)))
    assert "0.2 deletes 'ada' (prog.py:2)" in text


def test_what_ended_early_does_not_say_that_nothing_was_run() -> None:
    (_, first), (_, second) = tried_in_words(Experiments(schedules=5, neighbours=3, runs=5, stopped_by="time"))
    assert first.startswith("nothing yet: it ended while the schedules were run without any change")
    assert second.strip() == "(the failing schedule, 2 near it, 2 hunted; 5 runs; out of time)"

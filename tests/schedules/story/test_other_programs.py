"""Programs whose switch says little: what the story finds elsewhere in both runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.report.story import story_as_json, story_as_text
from tests.schedules.story.programs_explained import explained

OTHERS = Path(__file__).parent / "others"

# (program, kind, the things, what the sentences and the help must name).
TOLD = [
    ("subscription", "check-then-act", {"Subscription.ended"}, ["both found False", ":20)", ":23)"]),
    ("wallet", "lost update", {"Wallet.balance"}, ["(task 1)", "(task 2)", ":13)", ":15)", "asyncio.Lock"]),
    ("labels", "left over from an earlier call", {"settings.language"}, ["earlier call", "labels.py:12)"]),
    ("prices", "torn update", {"Prices.bid", "Prices.ask"}, ["another order", "unread (prices.py:29)", ":19)"]),
    ("forms", "order violation", {"Form.errors"}, ["if each Form needs its own `errors`"]),
    ("channels", "check-then-act", {"channels['audit']"}, ["both found nothing", "once more when guard is held"]),
    ("visit", "non-repeatable read", {"Visit.over"}, ["(visit.py:14, visit.py:33)", "`cancel()` (visit.py:16)"]),
    ("results", "result read too early", {"Job.results"}, ["set() of Job.finished (results.py:14) only after"]),
    ("pidfile", "torn update", {"daemon.pid"}, ["os.replace()"]),
]


@pytest.mark.parametrize(("name", "kind", "things", "words"), TOLD, ids=[row[0] for row in TOLD])
def test_what_the_switch_does_not_show_is_told(
    name: str, kind: str, things: set[str], words: list[str], tmp_path: Path
) -> None:
    explanation, program = explained(OTHERS / f"{name}.py", tmp_path)
    story = explanation.story
    assert story is not None, explanation.why_not
    text = "\n".join(story_as_text(explanation, program))
    assert story.kind == kind, text
    assert {thing.name for thing in story.things} == things
    told = f"{story.summary} {story.help}"
    assert [word for word in words if word not in told] == [], text
    assert story_as_json(explanation, program)["kind"] == kind

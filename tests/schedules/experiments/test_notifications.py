"""Notifications of all threads, tried where one has woken a thread that waits for something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from replay_dd.report.story import story_as_text
from replay_dd.report.tried import tried_as_json
from replay_dd.schedules.experiments.experiments import Budget, with_experiments
from replay_dd.schedules.experiments.notifications import notify_all_proposals
from replay_dd.schedules.isolating.isolate import isolate
from replay_dd.schedules.story.experiment_results import FAILS, PREVENTS
from replay_dd.schedules.story.explain import explain
from replay_dd.schedules.virtual import Region, VirtualNotifyAll
from tests.schedules.story.programs_explained import hunted

PROGRAM = Path(__file__).parents[1] / "story" / "hangs" / "counter.py"


@pytest.mark.once
def test_to_wake_all_is_tried_at_every_notification_of_the_condition(tmp_path: Path) -> None:
    found = isolate(*hunted(PROGRAM, tmp_path))
    explanation = with_experiments(explain(found), found, budget=Budget(12, time_s=None))
    assert explanation.tried is not None
    (attempt,) = explanation.tried.attempts
    lines = Region("counter.py", "Counter.put", 16, 16), Region("counter.py", "Counter.take", 23, 23)
    assert attempt.virtual == VirtualNotifyAll(lines)
    assert attempt.verdict == PREVENTS
    told: Any = tried_as_json(explanation.tried)
    assert [(one["kind"], len(one["regions"])) for one in told["attempts"]] == [("notify all", 2)]
    text = " ".join(" ".join(story_as_text(explanation, found.failing.program)).split())
    assert "with `notify_all()` for `notify()` at counter.py:16 and counter.py:23: 0 of" in text
    assert "the wrong one tried" in text, "what was tried is more than inferred"
    in_vain = explanation._replace(tried=explanation.tried._replace(attempts=(attempt._replace(verdict=FAILS),)))
    assert "(inferred, not tried)" in " ".join(" ".join(story_as_text(in_vain, found.failing.program)).split())

    story, log = explanation.story, found.failing
    assert story is not None
    assert story.hang is not None
    assert list(notify_all_proposals(story, log)) == [attempt.virtual]
    only_operations = replace(log, settings=replace(log.settings, granularity="sync"))
    assert not list(notify_all_proposals(story, only_operations))
    other = story.hang._replace(verdict=story.hang.verdict._replace(help="something else"))
    assert not list(notify_all_proposals(story._replace(hang=other), log))
    assert not list(notify_all_proposals(story._replace(hang=None), log))

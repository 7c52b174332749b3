"""Programs of the corpus, each with another reason why its story could go wrong.

The whole corpus takes minutes: `python -m tests.benchmarks.stories`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.report.story import story_as_text
from tests.schedules.story.corpus_truth import PROGRAMS, TRUTH, faults_of
from tests.schedules.story.programs_explained import explained

# A common lock is the edge; a flag is set too early; a call waits in the other thread; another thread gets the time;
# what is used is closed; the same place looks twice; a call that waits is interrupted; a look stores what it did not
# find; what was saved is put back.
SAMPLE = ("average", "catalog", "groups", "journal", "mailbox", "logfile", "paging", "patching", "weather")


@pytest.mark.once
@pytest.mark.parametrize("name", SAMPLE)
def test_the_answer_is_right(name: str, tmp_path: Path) -> None:
    explanation, program = explained(PROGRAMS / f"{name}.py", tmp_path)
    assert explanation.story is not None, explanation.why_not
    source = (tmp_path / f"{name}.py").read_text().splitlines()
    text = "\n".join(story_as_text(explanation, program))
    assert faults_of(explanation.story, TRUTH[name], source) == [], text


def test_every_program_of_the_corpus_is_judged() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.py")} == set(TRUTH)

"""Tells the answer of ``schedules`` in the forms that are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from replay_dd.cli.order_tests import test_in_words
from replay_dd.cli.progress import can_draw
from replay_dd.cli.report_forms import Form, tell, terminal_width
from replay_dd.experiment.tally import TALLY
from replay_dd.report.mermaid import log_as_mermaid, story_as_mermaid
from replay_dd.report.needed_statements import needed_statements_as_json, needed_statements_as_text
from replay_dd.report.schedules import schedules_as_text
from replay_dd.report.schedules_json import schedules_as_json
from replay_dd.report.short import short_as_text
from replay_dd.report.story import story_as_text
from replay_dd.report.story_lanes import fits_lanes, story_in_lanes
from replay_dd.schedules.isolating.answer import ScheduleIsolation
from replay_dd.schedules.isolating.needed_statements import NeededStatements
from replay_dd.schedules.story.explain import Explanation


class Answer(NamedTuple):
    """All that there is to tell.

    Attributes:
        found: the isolation.
        explanation: its story.
        passing: the path of the minimal passing log.
        failing: the path of the minimal failing log.
        test: the path of the test, if one was written.
        needed: the statements that the answer needs, if they were searched.
    """

    found: ScheduleIsolation
    explanation: Explanation
    passing: Path
    failing: Path
    test: Path | None
    needed: NeededStatements | None = None

    def whole(self) -> Iterator[str]:
        """The whole text."""
        yield from story_as_text(self.explanation, self.found.failing.program)
        yield ""
        yield from schedules_as_text(self.found, self.passing, self.failing)
        if self.test is not None:
            yield test_in_words(self.test)
        yield from self._needed()

    def _needed(self) -> Iterator[str]:
        if self.needed is not None:
            yield ""
            yield from needed_statements_as_text(self.needed)

    def short(self) -> Iterator[str]:
        """Five lines, and one more if there is a test."""
        yield from short_as_text(self.found, self.explanation, self.failing)
        if self.test is not None:
            yield test_in_words(self.test)

    def lanes(self) -> Iterator[str]:
        """The story side by side; the whole text if it cannot be shown like that."""
        story, width = self.explanation.story, terminal_width()
        if story is None or not fits_lanes(story, width):
            return self.whole()
        return self._lanes(width)

    def _lanes(self, width: int) -> Iterator[str]:
        story = self.explanation.story
        assert story is not None
        program = self.found.failing.program
        yield from story_as_text(self.explanation, program, story_in_lanes(story, program, width, unicode=can_draw()))
        yield ""
        yield from schedules_as_text(self.found, self.passing, self.failing)
        if self.test is not None:
            yield test_in_words(self.test)
        yield from self._needed()

    @property
    def _failure(self) -> str:
        return self.found.isolation.failure.words

    def mermaid(self) -> Iterator[str]:
        """A sequence diagram."""
        story, log = self.explanation.story, self.found.failing
        if story is None or not story.turns:
            return log_as_mermaid(log)
        return story_as_mermaid(story, log.program, self._failure)

    def markdown(self) -> Iterable[str]:
        """A report for a list of issues."""
        from replay_dd.report.markdown import schedules_as_markdown  # only now: most answers are not told so

        return schedules_as_markdown(self.found, self.passing, self.failing, self.explanation)

    def _as_json(self) -> dict[str, Any]:
        told = schedules_as_json(self.found, self.passing, self.failing, self.explanation, self.test)
        told["answer"]["needed_statements"] = None if self.needed is None else needed_statements_as_json(self.needed)
        cost = TALLY.cost()
        told["answer"]["cost"] = {
            "started": cost.started,
            "forked": cost.forked,
            "processor_seconds": round(cost.processor_s, 3),
        }
        return told

    def forms(
        self, short: bool, lanes: bool, as_json: bool, markdown: Path | None, mermaid: Path | None
    ) -> tuple[Form, ...]:
        """All forms, as they are asked for."""
        return (
            Form("--short", short, self.short, colored=True),
            Form("--lanes", lanes, self.lanes, colored=True),
            Form("--json", as_json, self._as_json),
            Form("--markdown", markdown, self.markdown),
            Form("--mermaid", mermaid, self.mermaid),
        )


def tell_answer(
    answer: Answer, short: bool, lanes: bool, as_json: bool, markdown: Path | None, mermaid: Path | None
) -> None:
    """Print and write an answer; see :mod:`replay_dd.cli.report_forms`.

    Raises:
        OutputError: a file cannot be written.
    """
    tell(answer.forms(short, lanes, as_json, markdown, mermaid), answer.whole)

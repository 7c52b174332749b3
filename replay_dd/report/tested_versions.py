"""What came of a test in versions of a program, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from replay_dd.changes.tested_version import TestRun

FORMAT = "replay-dd verified test"
VERSION = 1
_LABEL = 13
_WIDTH = 80


@dataclass(frozen=True)
class Arm:
    """The runs of a test in one version.

    Attributes:
        role: ``unrepaired`` if the test must fail there, ``repaired`` if it must pass; ``only`` if there is no other.
        name: of the version.
        runs: all runs.
    """

    role: str
    name: str
    runs: tuple[TestRun, ...]

    @property
    def varies(self) -> bool:
        """Whether the runs do not agree."""
        return len({(run.passed, run.failed_as_recorded) for run in self.runs}) > 1

    @property
    def fails(self) -> bool:
        """Whether all fail, and with the recorded failure."""
        return all(run.failed_as_recorded for run in self.runs)

    @property
    def passes(self) -> bool:
        """Whether all pass."""
        return all(run.passed for run in self.runs)

    @property
    def as_claimed(self) -> bool:
        """Whether the test does what it must do there."""
        return self.passes if self.role == "repaired" else self.fails


def tested_as_json(arms: Sequence[Arm], test: str, *, verified: bool) -> dict[str, Any]:
    """The object that ``verify-test --json`` prints.

    Args:
        arms: the runs in each version.
        test: the path of the test.
        verified: whether it fails in the one and passes in the other.
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "test": test,
        "verified": verified,
        "versions": [
            {
                "role": arm.role,
                "name": arm.name,
                "as_claimed": arm.as_claimed,
                "runs": [
                    {
                        "status": run.status,
                        "passed": run.passed,
                        "failed_as_recorded": run.failed_as_recorded,
                        "said": run.said,
                        "verdicts": [dict(verdict) for verdict in run.verdicts],
                    }
                    for run in arm.runs
                ],
            }
            for arm in arms
        ],
    }


def tested_as_text(arms: Sequence[Arm], *, verified: bool) -> Iterator[str]:
    """The same as text, line by line; arguments as for :func:`tested_as_json`."""
    for arm in arms:
        yield from _labelled(arm.role if arm.role != "only" else "here", _told(arm))
        for line in _remarks(arm):
            yield from _labelled("", line)
    yield from _labelled("verdict", _verdict(arms, verified))


def _told(arm: Arm) -> str:
    runs = len(arm.runs)
    which = "" if arm.role == "only" else f"{arm.name}: "
    if arm.varies:
        passed = sum(run.passed for run in arm.runs)
        failed = sum(run.failed_as_recorded for run in arm.runs)
        return f"{which}varies: of {runs} runs, {passed} pass and {failed} fail as recorded"
    if arm.passes:
        return f"{which}passes, {runs} of {runs} runs"
    if arm.fails:
        return f"{which}fails as recorded, {runs} of {runs} runs: {arm.runs[0].ending}"
    kinds = arm.runs[0].kinds
    if "GONE" in kinds:
        return f"{which}cannot tell: the place of a switch is gone"
    if "FAILS_OTHERWISE" in kinds:
        return f"{which}fails in another way: {arm.runs[0].ending}"
    if arm.runs[0].status == 0:
        return f"{which}passes without checking an order: no `check_order` was called"
    return f"{which}does not get as far as its order: {arm.runs[0].said}"


def _remarks(arm: Arm) -> Iterator[str]:
    if not arm.runs or arm.varies:
        return
    for verdict in arm.runs[0].verdicts:
        why = verdict.get("why")
        if isinstance(why, list | tuple):
            yield from (str(line) for line in why)


def _verdict(arms: Sequence[Arm], verified: bool) -> str:
    if verified:
        return "the test tells broken code from repaired code"
    if len(arms) == 1:
        (arm,) = arms
        if arm.fails:
            return (
                "the failure is still possible. When it is repaired, `--old HEAD` (or another version without the "
                "repair) checks both ways"
            )
        return "only half of the proof: name a version without the repair with `--old`, or take it back with `--revert`"
    wrong = [
        f"it does not fail in {arm.name}" if arm.role == "unrepaired" else f"it does not pass in {arm.name}"
        for arm in arms
        if not arm.as_claimed
    ]
    return f"NOT verified: {' and '.join(wrong)}"


def _labelled(label: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        f"{label:<{_LABEL}}{text}",
        _WIDTH,
        subsequent_indent=" " * _LABEL,
        break_on_hyphens=False,
        break_long_words=False,
    )

"""The common part of all circumstances' results as text and as JSON.

Rules of this module:

* There is one JSON object for all circumstances, with one schema (``isolation.schema.json`` beside this file). What
  is specific to one circumstance goes into its member ``answer``.
* Text lines begin with a one-word name, so that scripts can find them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from replay_dd.circumstance import Goal, Judgement
from replay_dd.experiment.baseline import Rate
from replay_dd.experiment.proof import Proof
from replay_dd.experiment.result import Isolation, TestRecord
from replay_dd.outcome import Outcome

FORMAT = "replay-dd isolation"
VERSION = 1
_MOST_DELTAS = 1000  # described in JSON
_STOPPED_BY = {"tests": "the limit on tests", "time": "the time budget", "interrupt": "Ctrl-C"}
_SHOWN_ENDINGS = 3
_MOST_STAGES = 12


def isolation_as_json(
    isolation: Isolation[Any],
    *,
    answer: Mapping[str, Any] | None = None,
    files: Mapping[str, Path | None] | None = None,
    notes: Iterable[str] = (),
) -> dict[str, Any]:
    """The object that ``--json`` prints.

    Args:
        isolation: the result.
        answer: what is specific to this circumstance.
        files: the paths of results, by what they contain.
        notes: what else should be known about the runs.
    """
    baseline, proof = isolation.baseline, isolation.proof
    return {
        "format": FORMAT,
        "version": VERSION,
        "circumstance": isolation.circumstance.name,
        "goal": isolation.circumstance.goal.value,
        "failure": isolation.failure.words,
        "deltas": {
            "unit": isolation.circumstance.delta,
            "before": isolation.deltas_searched,
            "left": isolation.deltas_left,
            "words": [isolation.circumstance.words(delta) for delta in islice(isolation.shown, _MOST_DELTAS)],
        },
        "tests": {
            "run": isolation.tests,
            "requested": isolation.requested,
            "runs": isolation.runs,
            "seconds": round(isolation.seconds, 3),
            "unresolved": [{"tests": tests, "why": why_unresolved(ending)} for ending, tests in isolation.unresolved],
        },
        "baseline": {
            **_rate_as_json(baseline.rate),
            "repeat": baseline.repeat,
            "confidence": baseline.confidence,
        },
        "proof": {
            "holds": proof.holds,
            "failing": _rate_as_json(proof.failing),
            "passing": _rate_as_json(proof.passing),
        },
        "complete": isolation.complete,
        "stopped_by": isolation.stopped_by,
        "answer": dict(answer or {}),
        "files": {name: str(path) for name, path in (files or {}).items() if path is not None},
        "notes": [*([disturbed_in_words(baseline.disturbed)] if baseline.disturbed else []), *notes],
    }


def _rate_as_json(rate: Rate) -> dict[str, int]:
    return {"failed": rate.failed, "runs": rate.runs}


def isolation_as_text(isolation: Isolation[Any]) -> Iterator[str]:
    """The answer of any circumstance as text, line by line: the remaining deltas, and a summary of the search."""
    deltas = [isolation.circumstance.words(delta) for delta in isolation.shown]
    yield headline(isolation)
    yield from (f"  {words}" for words in deltas)
    yield ""
    yield from search_as_text(isolation)


def headline(isolation: Isolation[Any]) -> str:
    """What was found, in one line."""
    left = at_most(isolation) + counted(isolation.deltas_left, isolation.circumstance.delta)
    if isolation.circumstance.goal is Goal.ISOLATE:
        return f"The difference between passing and failing is {left}:"
    if not isolation.deltas_left:
        return f"The failure needs no {isolation.circumstance.delta} at all."
    return f"The failure needs {left} of {isolation.deltas_searched:,}:"


def at_most(isolation: Isolation[Any]) -> str:
    """What stands before the number of deltas that are left: a search that was stopped might have left fewer."""
    return "" if isolation.complete else "at most "


def needs_in_words(isolation: Isolation[Any], left: int, before: int, unit: str) -> Iterator[str]:
    """What a failure that may not show every time needs, and how often it shows with that; one or two lines.

    Args:
        isolation: the result.
        left: how many units are left.
        before: how many there were.
        unit: a noun in the singular.
    """
    proof, rate = isolation.proof, isolation.proof.failing
    yield from not_reproduced_in_words(proof)
    words = "The failure needs" if proof.holds or not proof.made else "The search ended with"
    those = "this" if left == 1 else "these"
    shows = "" if rate.steady else f"; with {those} it shows in {rate.failed} of {counted(rate.runs, 'replay')}"
    yield f"{words} {at_most(isolation)}{counted(left, unit)} of {before:,}{shows}:"


def not_reproduced_in_words(proof: Proof) -> Iterator[str]:
    """That fresh runs did not confirm an answer, and what they did instead; nothing unless that is so."""
    if proof.holds or not proof.made:
        return
    told = "never failed this way"
    if proof.passing.failed:
        told = "failed without the difference, too"
    elif proof.failing.failed:
        times = "once" if proof.failing.failed == 1 else f"{proof.failing.failed} times"
        told = f"failed only {times}, less often than before the search"
    yield f"Not reproduced: in {counted(proof.failing.runs, 'fresh replay')}, the answer {told}."


def search_as_text(isolation: Isolation[Any], details: Iterable[str] = (), was: str = "") -> Iterator[str]:
    """The failure sought, the cost of the search, and the certainty of the answer, line by line.

    Args:
        isolation: the result.
        details: more about the failure, such as a stack trace.
        was: what was said of the same failure before the search, if that has become something else.
    """
    unit = isolation.circumstance.delta
    yield f"failure      {isolation.failure.words}"
    yield from (f"               {line}" for line in details)
    if was:
        yield f"was          {was}"
    if isolation.circumstance.goal is Goal.ISOLATE:
        yield f"difference   {counted(isolation.deltas_searched, unit)}, {isolation.deltas_left:,} left"
    yield f"tests        {tests_in_words(isolation.tests, isolation.requested, isolation.seconds)}"
    unresolved = unresolved_in_words(isolation.unresolved)
    if unresolved:
        yield f"unresolved   {unresolved}"
    if isolation.circumstance.flaky:
        yield f"baseline     {rate_in_words(isolation.baseline.rate)} before the search"
    if isolation.baseline.disturbed:
        yield f"serial       {disturbed_in_words(isolation.baseline.disturbed)}"
    if isolation.baseline.confidence is not None:
        yield (
            f"confidence   {isolation.baseline.confidence:.1%} for each test reported as passing: runs vary, so "
            f"each test was run up to {isolation.baseline.repeat} times"
        )
    yield f"proof        {proof_in_words(isolation)}"


def disturbed_in_words(ending: str) -> str:
    """Why runs were made one at a time.

    Args:
        ending: how one ended that others seem to have disturbed.
    """
    return f"runs were made one at a time, since one at the same time as others ended differently: {ending.rstrip('.')}"


def counted(number: int, what: str) -> str:
    """A number with its noun, in the plural unless it is 1."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def plural(unit: str) -> str:
    """A noun such as ``part`` or ``part at depth 2`` in the plural."""
    noun, blank, rest = unit.partition(" at ")
    return f"{noun}s{blank}{rest}"


def stages_as_text(isolation: Isolation[Any]) -> Iterator[str]:
    """What each kind of delta was reduced to, line by line."""
    lines: list[str] = []
    for unit, group in groupby(isolation.stages, key=lambda stage: stage.unit):
        together = list(group)
        tests = counted(sum(stage.tests for stage in together), "test")
        if lines and tests == "0 tests":
            continue
        if len(together) == 1:
            lines.append(f"{plural(unit):<12} {together[0].left:,} of {together[0].before:,}, {tests}")
        else:
            left_out = sum(stage.before - stage.left for stage in together)
            lines.append(f"{plural(unit):<12} {left_out:,} left out or replaced, {tests}")
    yield from lines[:_MOST_STAGES]
    if len(lines) > _MOST_STAGES:
        yield f"{'':<12} ... and {len(lines) - _MOST_STAGES:,} more searches; `--json` has all of them"


def rate_in_words(rate: Rate) -> str:
    """How many of how many runs failed."""
    return f"failed in {rate.failed} of {counted(rate.runs, 'run')}"


def tests_in_words(run: int, requested: int, seconds: float) -> str:
    """What a search cost.

    Args:
        run: tests run.
        requested: outcomes that the algorithm asked for.
        seconds: real time.
    """
    known = requested - run
    said = f"{run} run, {seconds:.1f} s"
    if known > 0:
        said += f" (the search asked for {requested} outcomes; {known} known from earlier tests)"
    return said


def why_unresolved(ending: Judgement | TestRecord) -> str:
    """Why a run counts as neither passing nor failing."""
    return f"another failure: {ending.words}" if ending.failed else ending.words


def unresolved_in_words(unresolved: Sequence[tuple[Judgement, int]]) -> str:
    """The endings of unresolved tests, with their counts; empty if there were none."""
    if not unresolved:
        return ""
    told = [f"{tests} {why_unresolved(ending)}" for ending, tests in unresolved[:_SHOWN_ENDINGS]]
    rest = sum(tests for _, tests in unresolved[_SHOWN_ENDINGS:])
    if rest:
        told.append(f"{rest} otherwise")
    total = sum(tests for _, tests in unresolved)
    return f"{total} of these tests neither passed nor showed this failure: {'; '.join(told)}"


def proof_in_words(isolation: Isolation[Any]) -> str:
    """The result of fresh runs of the answer."""
    proof = isolation.proof
    if not proof.made:
        return f"none: {stopped_in_words(isolation)}; this is the best result so far"
    failing, passing = proof.failing, proof.passing
    told = f"fresh runs: {failing.failed} of {failing.runs} fail"
    if passing.runs:
        told += f"; without the difference, {passing.failed} of {passing.runs}"
    return told if proof.holds else f"FAILED: {told}"


def stopped_in_words(isolation: Isolation[Any]) -> str:
    """That a search did not come to its end, and why."""
    by = _STOPPED_BY.get(isolation.stopped_by or "")
    return f"the search was stopped by {by}" if by else "the search was stopped"


def progress_in_words(record: TestRecord, unit: str) -> str:
    """One test, as a progress line."""
    left = f"{counted(record.deltas_left, record.unit or unit)} left"
    if record.outcome is not Outcome.UNRESOLVED:
        return f"test {record.number}: {record.outcome.value}, {left}"
    return f"test {record.number}: UNRESOLVED, {left}; {why_unresolved(record)}"

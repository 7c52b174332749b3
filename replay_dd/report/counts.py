"""How many tests a search took, and how those ended that told nothing, in words."""

from __future__ import annotations

from collections.abc import Sequence

from replay_dd.schedules.signature import Signature


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


def why_unresolved(ending: Signature) -> str:
    """Why a run counts neither as passing nor as failing."""
    return f"another failure: {ending.text}" if ending.failed else ending.text


def unresolved_in_words(unresolved: Sequence[tuple[Signature, int]], shown: int = 3) -> str:
    """How tests ended that were unresolved, with their numbers; empty where there were none.

    Args:
        unresolved: endings, and how many tests ended so.
        shown: how many endings are told one by one.
    """
    if not unresolved:
        return ""
    told = [f"{tests} {why_unresolved(ending)}" for ending, tests in unresolved[:shown]]
    rest = sum(tests for _, tests in unresolved[shown:])
    if rest:
        told.append(f"{rest} otherwise")
    total = sum(tests for _, tests in unresolved)
    return f"{total} of these tests neither passed nor failed as looked for: {'; '.join(told)}"

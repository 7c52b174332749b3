"""A passing and a failing run with the same switches: what makes the difference is when something came from outside."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any, TypeAlias

from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.model import Log
from replay_dd.schedules.runtime.channel import ARRIVAL, AT

SAME_SCHEDULE = "The passing and the failing log have the same schedule."
HINT = "No switch decides. If the answer may take that long, a longer time-out helps; or go on without it."

_Record: TypeAlias = tuple[Any, ...]


def outside_decides(passing: Log, failing: Log) -> str:
    """What differed outside, as a sentence, if both runs made the same switches; empty if they did not, or nothing did.

    Args:
        passing: the log of a run that passed.
        failing: the log of a run of the same program that failed.
    """
    if difference_of(passing, failing).units:
        return ""
    for one, other in zip_longest(_waits(passing), _waits(failing)):
        if one is None or other is None:
            return ""
        if _answer(one) != _answer(other):
            place = _place(one) or _place(other)
            passes, fails = (_in_words(wait, place) for wait in (one, other))
            return (
                f"What came from outside decides, and when: in the passing run, {passes}; in the failing run, {fails}."
            )
    return ""


def _waits(log: Log) -> list[_Record]:
    return [one for one in log.arrivals if one[0] == ARRIVAL]


def _answer(wait: _Record) -> _Record:
    """Which wait it was, whether something came, and what; not when another thread was first seen to run meanwhile."""
    _, thread, number, by, _, *answer = wait
    return (thread, number, bool(by), *answer[:1])


def _text(wait: _Record) -> str:
    return wait[6] if len(wait) > 6 and type(wait[6]) is str else ""


def _place(wait: _Record) -> str:
    """The line of the program that made a wait which a time-out ended, in brackets; empty if it is not known."""
    way, _, line = _text(wait).partition(" ")
    return f" ({line})" if way == AT else ""


def _in_words(wait: _Record, place: str) -> str:
    _, thread, number, by, *_ = wait
    which = f"wait {number} of thread {thread} for something outside{place}"
    text = f" {_text(wait)}" if _text(wait) else ""
    return f"{which} gets an answer{text}" if by else f"{which} ends without an answer"

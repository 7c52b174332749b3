"""Counts how runs ended: as one, what differs in its message only."""

from __future__ import annotations

from typing import NamedTuple

from replay_dd.schedules.failures.signature import Signature, signature_of
from replay_dd.schedules.model import Log


class EndingCount(NamedTuple):
    """An ending, and the number of runs that had it.

    Attributes:
        text: its description.
        runs: how many runs had it.
        messages: how many distinct descriptions it had: messages may vary from run to run.
    """

    text: str
    runs: int
    messages: int


class Tally:
    """Counts endings; those with the same signature count as one, however their messages differ."""

    def __init__(self) -> None:
        self._met: list[list[Signature]] = []

    def add(self, signature: Signature) -> None:
        """Count one more."""
        same = next((met for met in self._met if met[0].same(signature)), None)
        if same is None:
            self._met.append([signature])
        else:
            same.append(signature)

    def counts(self, log: Log | None = None) -> tuple[EndingCount, ...]:
        """The counts, each described as in its first run, or as in the log if it has that ending."""
        last = None if log is None else signature_of(log.ending)
        return tuple(
            EndingCount(
                last.text if last and met[0].same(last) else met[0].text, len(met), len({one.text for one in met})
            )
            for met in self._met
        )

"""Runs mixed schedules of one program, each once."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from replay_dd.outcome import Outcome
from replay_dd.schedules.fork_server_client import Runner
from replay_dd.schedules.model import Log, Trigger
from replay_dd.schedules.replay import replay_plan
from replay_dd.schedules.signature import Signature, outcome_of, signature_of
from replay_dd.schedules.target import run_target


class ScheduleTests:
    """Runs mixed schedules of one program and tells their outcomes; each schedule is run once.

    Args:
        failing: the log whose failure is looked for, and whose program and settings hold.
        runner: what runs the program.
        time_limit_s: seconds after which a run is killed; None for no limit.
        passing: another log, whose own schedule is run with what came from outside in that run.
        repeats: how often to run each schedule at most, until it fails: for programs that are not deterministic.
    """

    def __init__(
        self,
        failing: Log,
        runner: Runner,
        time_limit_s: float | None,
        passing: Log | None = None,
        repeats: int = 1,
    ) -> None:
        self._log = failing
        self._passing = passing
        self.repeats = repeats
        self._runner = runner
        self._failure = signature_of(failing.ending)
        self.time_limit_s = time_limit_s
        self._lock = threading.Lock()
        self._logs: dict[tuple[Trigger, ...], Log] = {}

    def run(self, triggers: tuple[Trigger, ...]) -> Log:
        """The log of a run under these triggers."""
        with self._lock:
            known = self._logs.get(triggers)
        if known is not None:
            return known
        # Of a mixture nobody knows what would come from outside; the failing run is as good a guess as any.
        passing = self._passing
        source = passing if passing is not None and triggers == passing.triggers else self._log
        log = self._runner.run(replay_plan(triggers, source.arrivals), self.time_limit_s).log
        for _ in range(self.repeats - 1):
            if self.outcome_of(log) is Outcome.FAIL:
                break
            again = self._runner.run(replay_plan(triggers, source.arrivals), self.time_limit_s).log
            log = again if self.outcome_of(again) is Outcome.FAIL else log
        with self._lock:
            return self._logs.setdefault(triggers, log)

    def run_again(self, log: Log) -> Log:
        """The log of one more run under the schedule of a log."""
        return self._runner.run(replay_plan(log.triggers, log.arrivals), self.time_limit_s).log

    def run_afresh(self, log: Log) -> Log:
        """The log of a new run under the schedule of a log, in a fresh process."""
        plan = replay_plan(log.triggers, log.arrivals)
        return run_target(self._log.program, self._log.settings, plan, time_limit_s=self.time_limit_s).log

    def unresolved(self, schedules: Iterable[tuple[Trigger, ...]]) -> tuple[tuple[Signature, int], ...]:
        """How those runs ended that neither passed nor failed as is looked for, most frequent first, with their number.

        Args:
            schedules: which of the runs made to look at; each once.
        """
        found: dict[tuple[object, ...], list[Signature]] = {}
        for triggers in schedules:
            log = self._logs.get(triggers)
            if log is not None and self.outcome_of(log) is Outcome.UNRESOLVED:
                ending = signature_of(log.ending)
                found.setdefault((ending.kind, *ending.detail), []).append(ending)
        # Sorted by the text, too, so that the order of the schedules does not matter.
        told = [(min(endings, key=lambda one: one.text), len(endings)) for endings in found.values()]
        return tuple(sorted(told, key=lambda one: (-one[1], one[0].text)))

    def outcome(self, triggers: tuple[Trigger, ...]) -> Outcome:
        """PASS, FAIL or UNRESOLVED."""
        return self.outcome_of(self.run(triggers))

    def outcome_of(self, log: Log) -> Outcome:
        """The outcome of a run, by comparison with the failure that is looked for."""
        return outcome_of(log.ending, self._failure)

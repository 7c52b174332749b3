"""What a hunt keeps of its runs: logs that replay to the ending that they tell."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from replay_dd.experiment.process import LIVE
from replay_dd.experiment.waiting import result_of
from replay_dd.schedules.failures.signature import PASSED, Signature, signature_of
from replay_dd.schedules.hunting.runs import HuntRuns
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.record import ended_otherwise, verified
from replay_dd.schedules.running.target import TargetRun

MOST_FURTHER = 19  # failures that are kept beside the first


class Finds:
    """The first passing and failing runs that replay to the same ending; if it keeps going, one of each other failure.

    A passing run is replayed only once there is a failing one: a hunt that is interrupted before does not need it. The
    first run under the default schedule is preferred, though others come before it.

    Args:
        batch: how runs are made.
        failure: only failures whose description contains this text count.
        keep_going: look for failures of other kinds beside the first.

    Attributes:
        passing: the log of a run that passed, once it is needed.
        failing: the log of the first run that failed.
        further: the logs of runs that failed in other ways.
        not_reproduced: the number of runs whose replay diverged.
    """

    def __init__(self, batch: HuntRuns, failure: str, *, keep_going: bool) -> None:
        self._batch = batch
        self._failure = failure
        self._keep_going = keep_going
        self._passed = batch.first if signature_of(batch.first.log.ending).kind == PASSED else None
        self.further: list[Log] = []
        self.passing: Log | None = None
        self.failing: Log | None = None
        self.not_reproduced = 0
        self._otherwise = ""

    @property
    def complete(self) -> bool:
        """Whether nothing more is wanted."""
        return self.passing is not None and self.failing is not None and not self._keep_going

    def look_at(self, run: TargetRun, signature: Signature) -> None:
        """Keep a run if it is one of those wanted."""
        if signature.kind == PASSED and self._passed is None:
            self._passed = run
        if signature.failed and signature.mentions(self._failure) and self.failing is None:
            self.verify(failed=run)
        elif self.failing is not None:
            self.verify()
            if self._keep_going and signature.failed and signature.mentions(self._failure):
                self._keep(run, signature)

    def _keep(self, run: TargetRun, signature: Signature) -> None:
        """Keep the log of a failure that none of the logs has."""
        known = [signature_of(log.ending) for log in (self.failing, *self.further) if log is not None]
        if len(self.further) < MOST_FURTHER and not any(one.same(signature) for one in known):
            log = self._verified(run)
            if log is None:
                self.not_reproduced += 1
            elif not any(one.same(signature_of(log.ending)) for one in known):
                self.further.append(log)

    def take_passing_unverified(self) -> None:
        """Settle for what there is: no more runs can be made."""
        if self.passing is None and self._passed is not None:
            self.passing = self._passed.log

    def verify(self, failed: TargetRun | None = None) -> None:
        """Replay the candidates, a failing run and the first passing one, in parallel if allowed."""
        passed = self._passed if self.passing is None else None
        with ThreadPoolExecutor(self._batch.jobs) as pool:
            try:
                futures = [pool.submit(self._verified, run) for run in (failed, passed)]
                failing, passing = (result_of(future) for future in futures)
            except KeyboardInterrupt:
                LIVE.kill_all()
                raise
        self.failing = self.failing or failing
        self.passing = self.passing or passing
        if passing is None:
            self._passed = None
        for run, log in ((failed, failing), (passed, passing)):
            if run is not None and log is None:
                self.not_reproduced += 1
                self._batch.runner.stop_forking(self._otherwise or "a fresh replay of a forked run diverged")

    def _verified(self, run: TargetRun | None) -> Log | None:
        if run is None:
            return None
        log = verified(run, self._batch.time_limit_s).log
        self._otherwise = self._otherwise or ended_otherwise(log)
        told = signature_of(log.ending)
        return log if log.verified and (not told.failed or told.mentions(self._failure)) else None

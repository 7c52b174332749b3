"""Whether a failure may be replay-dd's own doing: tried by a plain run, and by one with the real clock.

Rules of this module:

* The default schedule is nearly what a program does by itself. If it fails there and passes plainly, that can be a race
  that replay-dd has found. It can also be that the program was misled, most often by the virtual clock: where a
  library reads the real one, or where a thread computes for so long that the virtual clock is advanced.
* Both are told as what was tried and seen. Only where a run with the real clock passes as well is the clock blamed, and
  only if something speaks against it, or no thread was started yet: with a single schedule, there is no race.
* A program that leaves replay-dd's control in one run does so in each, but real time decides whether that is noticed.
  So what other runs of it have noted speaks against this one as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from replay_dd.experiment.process import Command, private_folder, run
from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.model import Log, Program
from replay_dd.schedules.running import environment
from replay_dd.schedules.running.target import Plan, TargetRun, run_target
from replay_dd.schedules.running.time_limit import UNCONTROLLED_CALL

# Parts of the notes that are such.
_REASONS = ("outside replay-dd's control", "without waiting", UNCONTROLLED_CALL)
_LONGEST_TRY_S = 30.0  # for a run that did not end: it may be one that never does
_TRIED = ("exception", "exit", "signal")  # a deadlocked program would only reach the time limit


class Doubt(NamedTuple):
    """What speaks against a failure being the program's own.

    Attributes:
        real_clock_passes: whether the default schedule passes with the real clock.
        reasons: what runs noted that could mislead a program.
        one_schedule: whether the run started no thread, so that no schedule is to blame.
    """

    real_clock_passes: bool
    reasons: tuple[str, ...]
    one_schedule: bool = False

    @property
    def is_the_clock(self) -> bool:
        """Whether to blame the virtual clock, and to go on with the real one."""
        return self.real_clock_passes and (bool(self.reasons) or self.one_schedule)

    def __str__(self) -> str:
        if self.is_the_clock:
            return "the program passes without replay-dd, and with `--real-clock`: the virtual clock is to blame"
        if self.real_clock_passes:
            return "the program passes without replay-dd, and with `--real-clock`: it may depend on the virtual clock"
        if self.reasons:
            return "the program passes without replay-dd: this failure may come from what is not under control"
        return "the program passes without replay-dd"


def doubt_of(failed: TargetRun, time_limit_s: float | None, others: Iterable[TargetRun] = ()) -> Doubt | None:
    """Try whether a failure of the default schedule shows without replay-dd.

    Args:
        failed: the run.
        time_limit_s: seconds after which a run is killed; None for no limit.
        others: runs of the same program.

    Returns:
        None if the run did not fail, if the failure shows plainly, too, or if it cannot be tried. A run that was in an
        uncontrolled call at its time limit counts as a failure.
    """
    log = failed.log
    reasons = _reasons(failed)
    if log.ending.timed_out:
        if not any(UNCONTROLLED_CALL in reason for reason in reasons):
            return None
        own_limit_s = _LONGEST_TRY_S
    elif signature_of(log.ending).kind in _TRIED:
        own_limit_s = 10 + 20 * log.ending.seconds
    else:
        return None
    limit_s = own_limit_s if time_limit_s is None else min(own_limit_s, time_limit_s)
    if not _passes_plainly(log, limit_s):
        return None
    passes = False
    if not log.settings.real_clock:
        real = run_target(log.program, replace(log.settings, real_clock=True), Plan(), time_limit_s=limit_s)
        passes = signature_of(real.log.ending).kind == PASSED
    noted = dict.fromkeys(note for run in (failed, *others) for note in _reasons(run))
    return Doubt(passes, tuple(noted), log.ending.complete and len(log.ending.thread_times) < 2)


def _reasons(run: TargetRun) -> tuple[str, ...]:
    return tuple(note for note in run.log.ending.notes if any(reason in note for reason in _REASONS))


def with_note(run: TargetRun, doubt: Doubt | None) -> TargetRun:
    """The run, with the doubt among the notes of its log."""
    if doubt is None or str(doubt) in run.log.ending.notes:
        return run
    return replace(run, log=run.log.with_note(str(doubt)))


def _passes_plainly(log: Log, limit_s: float) -> bool:
    """Whether the program passes without replay-dd. Exceptions in threads leave no status, but stand in the output."""
    with private_folder() as folder:
        finished = run(_plain(log.program), folder, time_limit_s=limit_s, show_output=False)
    if finished.timed_out or finished.status != 0:
        return False
    names = {re.escape(exception.type.encode()) for exception in log.ending.exceptions}
    return not any(re.search(rb"^" + name + rb"(:|$)", finished.output, re.MULTILINE) for name in names)


def _plain(program: Program) -> Command:
    return Command(
        *(program.command, Path(program.directory), environment.plain(program), program.standard_input),
        *(program.fresh_copy, program.limits),
    )

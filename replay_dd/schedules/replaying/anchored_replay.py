"""Replays logs of programs that were edited since: threads switch wherever the anchors of a log are now."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from replay_dd.outcome import Outcome
from replay_dd.schedules.anchors import Anchor, find_anchors
from replay_dd.schedules.failures.signature import PASSED, signature_of
from replay_dd.schedules.failures.written_messages import with_unread_messages
from replay_dd.schedules.model import Log
from replay_dd.schedules.running.target import Plan, TargetRun, run_target
from replay_dd.schedules.runtime.strategies.anchored import inner_name


class AnchoredReplay(NamedTuple):
    """A replay of a program that has changed since its log was recorded.

    Attributes:
        run: the replay; its log is of the changed program.
        anchors: the switches of the recorded schedule.
        missed: those that were not found, in the source or during the run.
        outcome: PASS if it passed, FAIL if it failed as recorded, on any lines of the same functions.
    """

    run: TargetRun
    anchors: tuple[Anchor, ...]
    missed: tuple[Anchor, ...]
    outcome: Outcome


def replay_by_anchors(log: Log, *, time_limit_s: float | None, show_output: bool = False) -> AnchoredReplay:
    """Rerun the program of a log, switching threads where the log did, wherever those places are now.

    Args:
        log: the log.
        time_limit_s: seconds after which the run is killed; None for no limit.
        show_output: let the program write to our standard output and error.

    Raises:
        ProgramNotFoundError, NotControlledError: the program can no longer be run.
    """
    anchors = find_anchors(log)
    numbers = [number for number, anchor in enumerate(anchors) if anchor.line is not None]
    by_lines = log.settings.granularity == "line"
    plan = Plan("anchored", anchors=tuple(_for_runtime(anchors[number], by_lines) for number in numbers))
    run = run_target(log.program, log.settings, plan, time_limit_s=time_limit_s, show_output=show_output)
    met = {numbers[index] for index in run.anchors_met}
    missed = []
    for number, anchor in enumerate(anchors):
        if number not in met:
            missed.append(anchor._replace(why=anchor.why or "the thread did not reach that visit"))
    if show_output and log.ending.complaints and run.log.ending.status == log.ending.status:
        # What it complains of was shown, and so not read.
        again = run_target(log.program, log.settings, plan, time_limit_s=time_limit_s)
        run = replace(run, log=replace(run.log, ending=with_unread_messages(run.log.ending, again.log.ending)))
    recorded, repeated = signature_of(log.ending), signature_of(run.log.ending)
    outcome = Outcome.UNRESOLVED
    if repeated.kind == PASSED:
        outcome = Outcome.PASS
    elif repeated.failed and repeated.same_but_for_lines(recorded):
        outcome = Outcome.FAIL
    return AnchoredReplay(run, tuple(anchors), tuple(missed), outcome)


def _for_runtime(anchor: Anchor, by_lines: bool) -> tuple[object, ...]:
    switch, place = anchor.switch, anchor.switch.place
    if place is None:
        # Without counted code a thread's time is the number of its waits, which no edit of the program changes.
        return (switch.thread, "", 0, 0, "", False, 0 if switch.ended else switch.time, switch.to)
    what = inner_name(place.function) if by_lines and not place.operation else place.instruction
    where = (place.file, anchor.line, anchor.column, what, place.operation)
    return (switch.thread, *where, switch.visit, switch.to)

"""Replays logs, comparing each run step by step with the recording."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from replay_dd.errors.program import ProgramChangedError
from replay_dd.outcome import Outcome
from replay_dd.schedules.failures.signature import outcome_of, signature_of
from replay_dd.schedules.failures.written_messages import with_unread_messages
from replay_dd.schedules.model import Log, Switch, Trigger
from replay_dd.schedules.running.program_files import changed_files
from replay_dd.schedules.running.target import Plan, TargetRun, run_target
from replay_dd.schedules.runtime.channel import UNLIKE

_LEAST_PATIENCE_S = 5.0
_LONGEST_PATIENCE_S = 60.0
_MOST_DIGESTS = 100_000


class Divergence(NamedTuple):
    """The first point at which a replay differs from its log; None means the end of the run.

    Attributes:
        expected: the switch in the log.
        actual: the switch in the replay.
        because: what the replay lacked that the recorded run had, in words; empty if nothing is known of that.
    """

    expected: Switch | None
    actual: Switch | None
    because: str = ""

    def __str__(self) -> str:
        expected, actual = _describe(self.expected), _describe(self.actual)
        what = f"expected {expected}, got {actual}"
        if self.expected is None and self.actual is None:
            what = "after the last switch of the run"
        elif self.expected is not None and self.actual is not None and expected == actual:
            what = f"both got {actual}, but {', '.join(_hidden_differences(self.expected, self.actual))}"
        return f"{what}; {self.because}" if self.because else what


class ReplayResult(NamedTuple):
    """A replay, compared with its log.

    Attributes:
        run: the replay.
        divergence: the first difference; None if the digest is the same.
        outcome: PASS if it passed, FAIL if it failed as recorded.
        reproduced: whether it ended as recorded.
    """

    run: TargetRun
    divergence: Divergence | None
    outcome: Outcome
    reproduced: bool


def replay_plan(triggers: tuple[Trigger, ...], arrivals: tuple[tuple[Any, ...], ...] = ()) -> Plan:
    """The plan that applies triggers to the default schedule, with the outside input of some run."""
    return Plan("replay", triggers=triggers, arrivals=arrivals)


def exact_plan(log: Log, time_limit_s: float | None = None) -> Plan:
    """The plan that repeats the run of a log.

    What does not come again is waited for no longer than some ten times the recorded run, and less than the time limit,
    so that the reason can still be told. Once a switch shows another path, hardly anything is waited for.
    """
    recorded_s = log.ending.seconds
    patience_s = min(_LONGEST_PATIENCE_S, _LEAST_PATIENCE_S + 10 * recorded_s)
    if time_limit_s is not None:
        patience_s = min(patience_s, time_limit_s / 2)
    plan = replay_plan(log.triggers, log.arrivals)
    digests = tuple(switch.digest for switch in log.switches[:_MOST_DIGESTS]) if log.arrivals else ()
    return replace(plan, exact=True, patience_s=patience_s, recorded_s=recorded_s, digests=digests)


def counting_visits(plan: Plan, log: Log) -> Plan:
    """The plan that also counts how often each thread visits the places of the log's switches."""
    return replace(plan, watched=tuple({switch.place.key for switch in log.switches if switch.place is not None}))


def replay(
    log: Log,
    *,
    time_limit_s: float | None,
    show_output: bool = False,
    count_visits: bool = False,
    elsewhere: bool = False,
    history: bool = False,
) -> ReplayResult:
    """Run the program of a log again under its schedule.

    Args:
        log: the log.
        time_limit_s: seconds after which the run is killed; None for no limit.
        show_output: let the program write to our standard output and error.
        count_visits: count how often each thread visited the places of its switches; slightly slower.
        elsewhere: as if from another shell; see :func:`replay_dd.schedules.running.environment.of_run`.
        history: keep what happens to locks and the like, for the explanation of a deadlock; slower.

    Raises:
        ProgramNotFoundError, NotControlledError: the program can no longer be run.
    """
    plan = replace(exact_plan(log, time_limit_s), history=history)
    if count_visits:
        plan = counting_visits(plan, log)
    run = run_target(
        log.program, log.settings, plan, time_limit_s=time_limit_s, show_output=show_output, elsewhere=elsewhere
    )
    if show_output:
        run = replace(run, log=replace(run.log, ending=with_unread_messages(run.log.ending, log.ending)))
    recorded, repeated = signature_of(log.ending), signature_of(run.log.ending)
    return ReplayResult(
        run=run,
        divergence=find_divergence(log, run.log),
        outcome=outcome_of(run.log.ending, recorded),
        reproduced=recorded.same(repeated),
    )


def find_divergence(recorded: Log, repeated: Log) -> Divergence | None:
    """The first switch at which thread, time, place or digest differ; None where the runs are the same."""
    divergence = _first_difference(recorded, repeated)
    if divergence is None:
        return None
    lacks = [note for note in repeated.ending.notes if note.startswith(UNLIKE)]
    return divergence._replace(because="; ".join(lacks))


def _first_difference(recorded: Log, repeated: Log) -> Divergence | None:
    stuck = recorded.stuck_calls
    for expected, actual in zip(recorded.switches, repeated.switches, strict=False):
        if _essence(expected, stuck) != _essence(actual, stuck):
            return Divergence(expected, actual)
    shorter = min(len(recorded.switches), len(repeated.switches))
    longer = recorded.switches[shorter:], repeated.switches[shorter:]
    if longer[0] or longer[1]:
        return Divergence(longer[0][0] if longer[0] else None, longer[1][0] if longer[1] else None)
    same_end = recorded.ending.digest == repeated.ending.digest
    return None if same_end else Divergence(None, None)


def check_unchanged(log: Log, *, python: str | None = None) -> None:
    """Check that the program has not changed since the recording.

    Raises:
        ProgramChangedError: a source file or the interpreter's version has changed.
    """
    check_there(log)
    changed = changed_files(log.program)
    if changed:
        shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
        raise ProgramChangedError(f"The program has changed since the log was recorded: {shown}.")
    if python is not None and python != log.program.python:
        raise ProgramChangedError(f"The log was recorded under Python {log.program.python}; now it is Python {python}.")


def check_there(log: Log) -> None:
    """Check that the recorded source files still exist, whatever their contents.

    Raises:
        ProgramChangedError: one does not.
    """
    changed = changed_files(log.program)
    gone = [
        name
        for name in changed
        if not os.path.exists(log.program.paths.get(name, os.path.join(log.program.directory, name)))
    ]
    if gone:
        raise ProgramChangedError(f"Part of the program no longer exists: {', '.join(gone[:3])}.")


def _essence(switch: Switch, stuck: frozenset[tuple[str, int]]) -> tuple[object, ...]:
    place = switch.place
    # Of a call in C it is only known between which yield points it was made, unless it blocks for long enough.
    known = place is not None and (switch.thread, switch.time) not in stuck
    where = (place.file, place.line, place.function) if known and place is not None else None
    return switch.trigger, switch.forced, where, switch.global_time, switch.digest


def _hidden_differences(expected: Switch, actual: Switch) -> Iterator[str]:
    """How two switches differ that read the same."""
    if expected.forced != actual.forced:
        ways = {True: "because it could not go on", False: "although it could go on"}
        yield f"{ways[actual.forced]} instead of {ways[expected.forced]}"
    if expected.global_time != actual.global_time:
        yield (
            f"all threads had passed {actual.global_time:,} yield points by then instead of {expected.global_time:,}"
        )
    if expected.digest != actual.digest:
        yield (
            "on the way there, the threads passed other code or met things in another order "
            f"(digest {actual.digest:016x} instead of {expected.digest:016x})"
        )


def _describe(switch: Switch | None) -> str:
    if switch is None:
        return "the run to end without another switch"
    return f"thread {switch.thread} to yield to {switch.to} at its time {switch.time} {switch.where}"

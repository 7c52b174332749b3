"""Records one run."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import replace

from replay_dd.errors.program import NotControlledError
from replay_dd.errors.user import ProgramNotFoundError
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.failures.written_messages import with_unread_messages
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.replaying.doubts import doubt_of, with_note
from replay_dd.schedules.replaying.replay import replay
from replay_dd.schedules.running.target import Plan, TargetRun, run_target

STRATEGIES = ("default", "random", "pct", "bounded", "natural")
GRANULARITIES = ("sync", "gil", "line", "access")
DEFAULT_TIME_LIMIT_S = 300.0
DEFAULT_MAX_DELAY_S = 0.1
_DEPTHS = (
    2,
    3,
    4,
)  # bug depths for PCT, in rotation: most known bugs have one of these (Burckhardt et al. 2010, table 2)

_VERIFICATIONS = 3  # the maximum number of replays to verify a log
_ANOTHER_RUN = (
    "something outside the program was different when this run was repeated; the log holds the repeated run, which "
    "ends the same way but may print something else"
)
_OTHERWISE = "repeated with the same thread switches, the command ended with "
_PREEMPTIONS = (1, 1, 2)  # for ``bounded``, in rotation


def settings_for_now(
    granularity: str = "access",
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    *,
    real_clock: bool = False,
    real_entropy: bool = False,
    preload: tuple[str, ...] = (),
    untested: bool = False,
    max_delay_s: float = DEFAULT_MAX_DELAY_S,
) -> Settings:
    """Settings whose virtual clock starts now, with a key of their own for libraries."""
    return Settings(
        *(granularity, include, exclude, time.time_ns(), 1, real_clock, real_entropy, preload, untested),
        max_delay_ns=round(max_delay_s * 1e9),
        library_key=os.urandom(32).hex(),
    )


def plan_for(strategy: str, seed: int, thread_times: Mapping[str, int]) -> Plan:
    """The plan of one run of a strategy.

    Args:
        strategy: one of :data:`STRATEGIES`.
        seed: the random seed.
        thread_times: for ``pct`` and ``bounded``, the yield points of each thread in another run.
    """
    if strategy == "default":
        return Plan()
    if strategy == "natural":
        return Plan("natural")
    if strategy == "random":
        return Plan("random", {"seed": seed})
    if strategy == "bounded":
        return Plan("bounded", {"seed": seed, "preemptions": _PREEMPTIONS[seed % len(_PREEMPTIONS)]}, thread_times)
    return Plan("pct", {"seed": seed, "depth": _DEPTHS[seed % len(_DEPTHS)]}, thread_times)


def record(
    program: Program,
    settings: Settings,
    *,
    strategy: str = "default",
    seed: int = 0,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
    verify: bool = True,
    show_output: bool = True,
) -> TargetRun:
    """Run a program under a strategy and keep its schedule.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        strategy: the scheduling strategy.
        seed: the random seed.
        time_limit_s: seconds after which the run is killed; None for no limit.
        verify: replay the log, and note in it whether the digest is the same.
        show_output: let the program write to our standard output and error.

    Raises:
        ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
    """
    thread_times: Mapping[str, int] = {}
    if strategy in ("pct", "bounded"):
        # These spread their switches over the length of each thread, which takes a run to measure.
        first = run_target(program, settings, Plan(), time_limit_s=time_limit_s).log
        program, thread_times = replace(program, process=first.program.process), first.ending.thread_times
    plan = plan_for(strategy, seed, thread_times)
    run = run_target(program, settings, plan, time_limit_s=time_limit_s, show_output=show_output)
    doubt = doubt_of(run, time_limit_s) if strategy == "default" else None
    if verify and not run.log.ending.timed_out:
        run = _with_note_of_another(run, verified(run, time_limit_s))
    return with_note(run, doubt)


def verified(run: TargetRun, time_limit_s: float | None) -> TargetRun:
    """The run with its log verified; see :func:`verify_log`."""
    return replace(run, log=verify_log(run.log, time_limit_s))


def _with_note_of_another(run: TargetRun, checked: TargetRun) -> TargetRun:
    """The checked run; where its log is not that of the run whose output was shown, a note tells so."""
    log = checked.log
    if not log.verified or log.ending.digest == run.log.ending.digest:
        return checked
    return replace(checked, log=log.with_note(_ANOTHER_RUN))


def verify_log(log: Log, time_limit_s: float | None) -> Log:
    """Replay a log and note in it whether the digest and the ending are the same.

    The interpreter starts as in another shell, so that a log that depends on that does not count as verified. The
    replay also counts which visit of its place each switch is, which the first run could not know.

    A replay that diverges but ends the same way replaces the log and is then replayed itself: outside input, real time
    in a natural run, or an interpreter that the runtime's ``own_memory.py`` does not know may have shifted the
    addresses that determine the order of sets of objects. Replays share the same addresses.

    A replay that takes the same switches but ends otherwise is told in a note: see :func:`ended_otherwise`.
    """
    candidate = log
    hangs = bool(log.ending.deadlock)
    for _ in range(_VERIFICATIONS):
        try:
            again = replay(candidate, time_limit_s=time_limit_s, count_visits=True, elsewhere=True, history=hangs)
        except (ProgramNotFoundError, NotControlledError) as error:  # it has removed or changed itself
            note = f"this log could not be replayed at once: {error.message}"
            return replace(log.with_note(note), verified=None)
        ending = with_unread_messages(candidate.ending, again.run.log.ending)
        found = signature_of(again.run.log.ending)
        if not signature_of(ending).same(found):
            note = (
                f"{_OTHERWISE}{found.text} instead of {signature_of(ending).text}; how the command ends is what counts"
            )
            return replace(log if again.divergence else log.with_note(note), verified=False)
        if again.divergence is None:
            ending = replace(ending, hang=again.run.log.ending.hang or candidate.ending.hang)
            return replace(candidate, verified=True, switches=again.run.log.switches, ending=ending)
        candidate = replace(again.run.log, strategy=log.strategy)
    return replace(log, verified=False)


def ended_otherwise(log: Log) -> str:
    """What the replay that was to verify a log told of its end, if only that differed; else nothing.

    So ends a command that hides how its program has ended, as a script does that has another last line.
    """
    return next((note for note in log.ending.notes if note.startswith(_OTHERWISE)), "")

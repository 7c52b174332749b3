"""Runs a program under the runtime and makes a log of it."""

from __future__ import annotations

import marshal
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from replay_dd.errors.program import NotControlledError, UntestedInterpreterError
from replay_dd.experiment import resource_limits
from replay_dd.experiment.guard_process import SYSTEM_NAMES
from replay_dd.experiment.process import Command, Finished, PrivateFolder, private_folder, run
from replay_dd.schedules.hang import Hang
from replay_dd.schedules.model import Log, Place, Program, Settings, Trigger
from replay_dd.schedules.observed.access_order import in_order_of_access
from replay_dd.schedules.observed.executed import Executed
from replay_dd.schedules.observed.flow import Flow, flow_of
from replay_dd.schedules.observed.observation import NOTHING_OBSERVED, Observation, observation_of
from replay_dd.schedules.observed.touches import Alternative, Touch
from replay_dd.schedules.running import environment, processes
from replay_dd.schedules.running.early_stop import AT_FIRST_THREAD, ChangedFile, EarlyStop
from replay_dd.schedules.running.late import leave_out_late
from replay_dd.schedules.running.program_files import file_hash, forget_files
from replay_dd.schedules.running.time_limit import STACKS, ThreadAtLimit, note_at_limit, threads_at_limit
from replay_dd.schedules.running.told import Told
from replay_dd.schedules.runtime import channel
from replay_dd.schedules.virtual import Virtual, as_request

REQUEST = "request"
CHANNEL = channel.FILE


@dataclass(frozen=True)
class Plan:
    """How one run is scheduled.

    Attributes:
        strategy: ``default``, ``random``, ``pct``, ``bounded``, ``natural``, ``replay``, or ``profile`` (which follows
            triggers, too, and notes what each thread touches).
        options: numbers that the strategy needs: ``seed``, ``depth``.
        thread_times: for ``pct`` and ``bounded``, the yield points of each thread in another run.
        points: for ``random``, ``pct`` and ``bounded``, the thread times in ascending order at which to switch, if only
            at certain ones.
        triggers: the triggers that ``replay`` follows.
        watched: the keys of places whose visits are counted.
        places: the keys of places at which ``uniform`` switches; if empty, anywhere.
        left_out: the keys of places where ``profile`` notes nothing.
        first: the threads that ``uniform`` draws first; None to draw all, and not to report them.
        label: what the log calls this plan; by default the strategy with its options.
        arrivals: what came from outside, and when, in the run that ``replay`` follows.
        exact: whether ``replay`` repeats that very run, and not a mixture with another one.
        patience_s: for how long it then waits in real time for one thing from outside; 0 for as long as is sensible.
        recorded_s: real time that that run took.
        digests: of that run at its switches; empty if nobody waits for anything from outside.
        anchors: what ``anchored`` searches for; see ``runtime/strategies/anchored.py``.
        traced: how many yield points are reported one by one.
        executed: report every instruction of counted code, from this global time on, and at most so many of them; see
            :mod:`~replay_dd.schedules.observed.executed`.
        followed: report every instruction with its operands, from this global time on, and at most so many of them; see
            :mod:`~replay_dd.schedules.observed.flow`.
        observed: for each thread, the thread times between which its accesses are observed; under an empty name those
            of all other threads.
        history: keep what happens to locks, events, queues and the like, and tell it at the end.
        virtual: a lock, an order or a barrier that the scheduler adds, in the place of what the settings say.
        only: restricts preemptions to some places; see ``runtime/strategies/only_where.py``.
    """

    strategy: str = "default"
    options: Mapping[str, int] = field(default_factory=dict)
    thread_times: Mapping[str, int] = field(default_factory=dict)
    points: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    triggers: tuple[Trigger, ...] = ()
    watched: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    first: tuple[str, ...] | None = None
    label: str = ""
    arrivals: tuple[tuple[Any, ...], ...] = ()
    exact: bool = False
    patience_s: float = 0.0
    recorded_s: float = 0.0
    digests: tuple[int, ...] = ()
    anchors: tuple[tuple[object, ...], ...] = ()
    traced: int = 0
    executed: tuple[int, int] | None = None
    observed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    followed: tuple[int, int] | None = None
    history: bool = False
    virtual: Virtual | None = None
    only: str = ""

    def __str__(self) -> str:
        if self.label:
            return self.label
        numbers = ", ".join(f"{name} {value}" for name, value in self.options.items())
        return f"{self.strategy} ({numbers})" if numbers else self.strategy


@dataclass(frozen=True)
class TargetRun:
    """One run: its log, its output, and which back end counted its yield points.

    If the plan asked for it: what its threads touched, which anchors it met, the thread and place of each yield point,
    and the instructions that they executed. And how late a thread would have been, at least, in virtual nanoseconds, if
    a sleep or time-out had ended early that could not; 0 if there was none. And what happened to locks and the like;
    and which threads the strategy ``uniform`` drew, each with those that it drew from. And the places that threads
    touched something at, by their keys; and, of a long run, the keys of those where they touched nothing. And the files
    that it changed outside its temporary folder, if it was copied before its first thread.
    """

    log: Log
    output: bytes
    backend: str
    backend_reason: str
    touches: tuple[Touch, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    anchors_met: frozenset[int] = frozenset()
    trace: tuple[tuple[str, Place | None], ...] = ()
    executed: tuple[Executed, ...] = ()
    accesses: Observation = NOTHING_OBSERVED
    least_asleep_ns: int = 0
    flow: Flow | None = None
    hang: Hang | None = None
    drawn: tuple[tuple[str, tuple[str, ...]], ...] = ()
    touched: Mapping[int, Place] = field(default_factory=dict)
    untouched: frozenset[int] = frozenset()
    changed_files: tuple[ChangedFile, ...] = ()


def describe_program(
    command: tuple[str, ...],
    *,
    standard_input: bytes = b"",
    fresh_copy: bool = False,
    directory: Path | None = None,
    process: str = "",
) -> Program:
    """The program that a command names, in the current environment and directory."""
    variables, withheld = environment.kept(os.environ)
    return Program(
        command=command,
        directory=str(directory or Path.cwd()),
        environment=variables,
        standard_input=standard_input,
        fresh_copy=fresh_copy,
        withheld=withheld,
        limits=resource_limits.current(),
        process=process,
    )


def run_target(
    program: Program,
    settings: Settings,
    plan: Plan,
    *,
    time_limit_s: float | None,
    show_output: bool = False,
    elsewhere: bool = False,
) -> TargetRun:
    """Run a program once under the runtime.

    Args:
        program: what to run, and its environment.
        settings: what to count and hold fixed.
        plan: how to schedule it.
        time_limit_s: seconds after which the run is killed; None for no limit.
        show_output: let the program write to our own standard output and error.
        elsewhere: as if from another shell; see :func:`replay_dd.schedules.running.environment.of_run`.

    Raises:
        ProgramNotFoundError: there is no such program.
        NotControlledError: it is not a Python program that the runtime can be loaded into.
        SeveralProcessesError: it is several, and does not say which one is meant.
    """
    with private_folder() as folder:
        command = prepare(program, settings, plan, folder, elsewhere=elsewhere)
        threads: list[ThreadAtLimit] = []
        finished = run(
            *(command, folder),
            time_limit_s=time_limit_s,
            show_output=show_output,
            at_limit=lambda _: threads.extend(threads_at_limit(folder.path)),
        )
        try:
            made = make_run(program, settings, plan, finished, folder, threads)
        finally:
            forget_files()
    if made.log.program.process != program.process:
        # Others were under control, too: once more without that.
        chosen = replace(program, process=made.log.program.process)
        return run_target(chosen, settings, plan, time_limit_s=time_limit_s, elsewhere=elsewhere)
    return made


def prepare(
    program: Program,
    settings: Settings,
    plan: Plan,
    folder: PrivateFolder,
    server: int = -1,
    *,
    elsewhere: bool = False,
    stop: EarlyStop = AT_FIRST_THREAD,
) -> Command:
    """Write the request of a run into its folder, and return the command that makes the run.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        plan: how to schedule it.
        folder: the private folder of the run.
        server: the descriptor of the fork server's socket; -1 for a single run.
        elsewhere: as for :func:`run_target`.
        stop: where the server stops.
    """
    request = folder.path / REQUEST
    request.write_bytes(request_of(settings, plan, folder, server, stop))
    variables = environment.of_run(program, request, elsewhere=elsewhere)
    if not elsewhere:
        leave_out_late(variables, program, folder.path)
    return Command(
        program.command,
        Path(program.directory),
        variables,
        program.standard_input,
        program.fresh_copy,
        program.limits,
    )


def request_of(
    settings: Settings, plan: Plan, folder: PrivateFolder, server: int = -1, stop: EarlyStop = AT_FIRST_THREAD
) -> bytes:
    """The request to the runtime for one run; arguments as for :func:`prepare`."""
    content = {
        "server": server,
        "stop_early": (stop.number, list(stop.paths)),
        "channel": folder.file(CHANNEL),
        "stacks": folder.file(STACKS),
        "system_names": folder.file(SYSTEM_NAMES),
        "granularity": settings.granularity,
        "include": list(settings.include),
        "exclude": list(settings.exclude),
        "start_ns": settings.start_ns,
        "entropy_seed": settings.entropy_seed,
        "library_key": settings.library_key,
        "preload": list(settings.preload),
        "real_clock": settings.real_clock,
        "real_entropy": settings.real_entropy,
        "untested": settings.untested,
        "max_delay_ns": settings.max_delay_ns,
        "strategy": plan.strategy,
        "options": dict(plan.options),
        "watched": list(plan.watched),
        "places": list(plan.places),
        "left_out": list(plan.left_out),
        "first": None if plan.first is None else list(plan.first),
        "thread_times": dict(plan.thread_times),
        "points": dict(plan.points),
        "triggers": [tuple(trigger) for trigger in plan.triggers],
        "arrivals": list(plan.arrivals),
        "exact": plan.exact,
        "patience_s": plan.patience_s,
        "digests": list(plan.digests),
        "recorded_s": plan.recorded_s,
        "anchors": list(plan.anchors),
        "traced": plan.traced,
        "executed": plan.executed,
        "observed": dict(plan.observed),
        "followed": plan.followed,
        "only": plan.only,
        "history": plan.history,
        "virtual": as_request(plan.virtual or settings.virtual),
    }
    return marshal.dumps(content, channel.MARSHAL_VERSION)


# -- from channel records to a log --------------------------------------------------------------------------------


def make_run(
    program: Program,
    settings: Settings,
    plan: Plan,
    finished: Finished,
    folder: PrivateFolder,
    at_limit: Sequence[ThreadAtLimit] = (),
    records: list[tuple[Any, ...]] | None = None,
) -> TargetRun:
    """The run that a finished process reported.

    Args:
        program: what ran.
        settings: what was counted and held fixed.
        plan: how it was scheduled.
        finished: how it ended.
        folder: its private folder.
        at_limit: where its threads were when it was killed at the time limit.
        records: what it told, if it was forked; None if that is in its folder.

    Raises:
        NotControlledError: it reported nothing.
    """
    found: list[processes.PythonProcess] = []
    chosen: processes.PythonProcess | None = None
    if records is None:
        found = processes.processes_in(folder.path, CHANNEL)
        chosen = processes.choose(program, found)
        records = [] if chosen is None else chosen.records
        if chosen is not None and len(found) > 1:
            program = replace(program, process=program.process or processes.how_to_name(chosen, found))
    hello = next((record for record in records if record[0] == channel.HELLO), None)
    if hello is None:
        raise _not_controlled(program, finished, found)
    version, executable, backend, reason = hello[1:5]
    if backend == "untested":
        raise UntestedInterpreterError(f"The program's interpreter is {executable}. {reason}.")
    if backend == "unsupported":
        raise NotControlledError(f"The program's interpreter {executable} is {reason}.")
    told = Told(program, folder.file("work"), finished.output)
    if chosen is not None and len(found) > 1:
        told.notes.append(processes.note(chosen, found))
    for record in records:
        told.take(record)
    at = ""
    if finished.timed_out:
        at = note_at_limit(list(at_limit), settings.granularity, program.directory)
    ending = told.ending(finished, at)
    counted = told.counted
    files = {short: file_hash(path) for short, path in counted}
    # Short names below the working directory resolve to their files; those of packages do not.
    paths = {short: path for short, path in counted if not os.path.exists(os.path.join(program.directory, short))}
    if program.fresh_copy:
        paths = {short: path for short, path in paths.items() if not path.startswith(str(folder.path))}
    described = replace(program, python=version, executable=executable, files=files, paths=paths)
    if plan.virtual is not None:
        settings = settings.with_virtual(plan.virtual)
    log = Log(described, settings, str(plan), tuple(told.switches), ending, arrivals=tuple(told.arrivals))
    return TargetRun(
        *(
            log,
            finished.output,
            backend,
            reason,
            in_order_of_access(told.touches, log.switches),
            tuple(told.alternatives),
            frozenset(told.anchors_met),
        ),
        trace=tuple(told.trace),
        executed=tuple(told.executed),
        accesses=observation_of(told.observed, told.places, log.switches),
        least_asleep_ns=told.least_asleep_ns,
        flow=flow_of(told.followed) if told.followed else None,
        hang=told.hang,
        drawn=tuple(told.drawn),
        touched={place.key: place for place in told.places.values()} if told.touches else {},
        untouched=frozenset(told.untouched),
        changed_files=tuple(told.changed_files),
    )


_SET_BEFORE = (
    "The command sets PYTHONPATH, which replay-dd needs, too: set it before `replay-dd` instead, not after `--`."
)


def _not_controlled(
    program: Program, finished: Finished, found: Sequence[processes.PythonProcess]
) -> NotControlledError:
    """Why a run has told nothing, where these processes of it have."""
    if found and program.process:
        return NotControlledError(
            f"There is no Python process `{program.process}` in this run. There were {'; '.join(map(str, found))}.",
            "Choose one of these with `--process`, by its number or the name of its script or module.",
        )
    if finished.status is None:
        ended = "at its time limit" if finished.timed_out else f"by signal {finished.signal}"
        return NotControlledError(
            f"The program `{program.command[0]}` was ended {ended}, before it ran under the scheduler.",
            "Give it more time with `--time-limit`." if finished.timed_out else None,
        )
    text = f"The program `{program.command[0]}` ran (exit status {finished.status}), but not under the scheduler."
    last = finished.output.decode(errors="replace").strip().splitlines()
    sets_path = any(one.startswith("PYTHONPATH=") for one in program.command)
    return NotControlledError(
        f"{text} Its last output: {last[-1][:200]}" if last else text, _SET_BEFORE if sets_path else None
    )

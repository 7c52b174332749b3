"""What a recorded run is: the program, the switches, the ending.

Rules of this module:

* Everything here is plain, frozen data; a log file is these classes written down (:mod:`replay_dd.schedules.log`).
* The annotations are also the schema of the log (:mod:`replay_dd.schedules.shapes`).
* A *switch* is what happened; a *trigger* is what to do. The triggers of a run are its choices that were not the
  default ones; the default schedule with these triggers is the same run again (total semantics: any set of triggers is
  a run).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, NamedTuple

from replay_dd.schedules.hang import Hang
from replay_dd.schedules.shapes import (
    Column,
    Count,
    Digest,
    EntropyKey,
    ExitStatus,
    FileHash,
    Granularity,
    Hash64,
    ModuleName,
    RaisedIn,
    ResourceLimit,
    ResourceName,
    Seconds,
    SignalNumber,
    SourceLine,
    ThreadId,
)
from replay_dd.schedules.virtual import Virtual, VirtualBarrier, VirtualLock, VirtualNotifyAll, VirtualOrder
from replay_dd.schema import Rule
from replay_dd.system_texts import Argument, Name, VariableName


class Trigger(NamedTuple):
    """At this thread time, this thread gives the baton to that one, if it can run then.

    To itself: where it goes on by default, it does so after a garbage collection.
    """

    thread: ThreadId
    time: Count
    to: ThreadId


@dataclass(frozen=True)
class Place:
    """A place in the source.

    Attributes:
        file: short name, relative to the working directory or the environment's packages.
        path: the file itself at the time of the recording.
        line: counts from 1.
        column: counts from 1; 0 where it is not known.
        function: the qualified name.
        instruction: the bytecode instruction before which the switch happens.
        gil_reachable: whether a switch here is possible under the GIL of that interpreter.
        key: a hash of file, function and position, the same in every run; what the digest is made of.
        after_call: the place follows a call, and ``gil_reachable`` holds only if that was of a function in C.
        operation: whether the switch stands at an operation on a lock, a file, the clock; not at an instruction.
        text: the line's text, without what stands around it; empty where it is not known.
        repeat: how many lines of the same function before it have the same text.
        indentation: how many columns stand before the text.
    """

    file: Name
    path: Name
    line: SourceLine
    column: Column
    function: str
    instruction: str
    gil_reachable: bool
    key: Hash64 = 0
    after_call: bool = False
    operation: bool = False
    text: str = ""
    repeat: Count = 0
    indentation: Column = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Wake:
    """A sleep or time-out that a switch ends.

    Attributes:
        time_out: whether it is a time-out; otherwise it is a sleep.
        place: where the thread waits; None where none of its code was counted.
        early_ns: how much of it was left, in virtual nanoseconds, if others could run; 0 if nobody else could.
    """

    time_out: bool
    place: Place | None
    early_ns: Count = 0


@dataclass(frozen=True)
class Switch:
    """One change of the running thread, or one choice that was not the default one.

    Attributes:
        thread: who ran.
        time: its thread time (yield points passed by this thread).
        to: who runs next; the same thread at the end of a deadlock or of the program, where nobody does.
        forced: whether ``thread`` could not have gone on.
        by_default: whether the default schedule makes the same choice.
        place: where ``thread`` stood; None where it ended, or where none of its code was counted.
        global_time: yield points passed by all threads together.
        digest: the rolling digest up to here.
        visit: which visit of this thread to this place it was, counted from 1; 0 where that was not counted.
        ended: whether ``thread`` has ended.
        wake: the sleep or time-out of ``to`` that this switch ends; None if ``to`` waits for none.
        collects: whether it is no switch, but a garbage collection at this place, after which ``thread`` goes on.
    """

    thread: str
    time: int
    to: str
    forced: bool
    by_default: bool
    place: Place | None
    global_time: int
    digest: int
    visit: int = 0
    ended: bool = False
    wake: Wake | None = None
    collects: bool = False

    @property
    def trigger(self) -> Trigger:
        """What makes this switch happen again."""
        return Trigger(self.thread, self.time, self.to)

    @property
    def where(self) -> str:
        """Where the thread stood, for people."""
        if self.place is None:
            if self.ended and self.to == self.thread:
                return "to the end of the program"
            return "at its end" if self.ended else "in library code"
        return f"at {self.place} in {self.place.function}"


@dataclass(frozen=True)
class Frame:
    """A line of a traceback; ``counted`` tells program code from library and test runner."""

    file: str
    line: SourceLine
    function: str
    counted: bool


@dataclass(frozen=True)
class UncaughtException:
    """An exception that nobody caught; ``where`` is ``main`` or a thread."""

    where: RaisedIn
    type: str
    text: str
    frames: tuple[Frame, ...]

    @property
    def innermost(self) -> Frame | None:
        """The innermost frame in user code."""
        return next((frame for frame in reversed(self.frames) if frame.counted), None)


@dataclass(frozen=True)
class Waiter:
    """A thread in a deadlock: what it waits for, and the user code that called, the innermost first.

    Where no user code called, the frames are those of the library; none of these is ``counted``.
    """

    thread: ThreadId
    explanation: str
    frames: tuple[Frame, ...]

    @property
    def innermost(self) -> Frame | None:
        """The innermost frame in user code."""
        return next((frame for frame in self.frames if frame.counted), None)


@dataclass(frozen=True)
class Ending:
    """How a run ended.

    Attributes:
        status: exit status, None where a signal or the time limit ended the run.
        signal: the number of the signal that ended it, if one did.
        timed_out: killed at the time limit.
        stopped: given up, as what it waited for did not come again; only replays are.
        exceptions: those that nobody caught, in order.
        exit: how the program ended itself with an exit status: by a ``SystemExit`` that nobody caught (``type`` is
            its class, ``text`` what it says, empty for a number) or by ``os._exit``; None where that was not seen, as
            in old logs.
        complaints: of a program that ended itself and whose ``exit`` says nothing, lines of its output that complain.
        deadlock: who waited for what, if all threads did.
        complete: whether the program told its end; a program that is killed or replaced (exec) does not.
        global_time: yield points of the run.
        digest: the digest of the whole run.
        thread_times: the yield points of each thread.
        skipped: triggers whose target could not run.
        notes: what else the user should know.
        writes_files: whether the program writes files in its working directory.
        exclusive: what else it uses that runs at the same time would fight over, a port or a file elsewhere; empty if
            nothing was seen.
        seconds: real time that the run took.
        hang: what is known of the threads of a run that hung.
    """

    status: ExitStatus | None
    signal: SignalNumber | None = None
    timed_out: bool = False
    stopped: bool = False
    exceptions: tuple[UncaughtException, ...] = ()
    deadlock: tuple[Waiter, ...] = ()
    complete: bool = True
    global_time: Count = 0
    digest: Digest = 0
    thread_times: Mapping[ThreadId, Count] = field(default_factory=dict)
    skipped: tuple[Trigger, ...] = ()
    notes: tuple[str, ...] = ()
    writes_files: bool = False
    exclusive: str = ""
    seconds: Seconds = 0.0
    hang: Hang | None = None
    exit: UncaughtException | None = None
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """What is counted, and what is held fixed, in all runs that are compared.

    Attributes:
        granularity: ``sync``, ``gil``, ``line`` or ``access``.
        include: packages counted although they belong to the standard library or a test runner.
        exclude: packages not counted.
        start_ns: the date at which the virtual clock starts, in nanoseconds since 1970.
        entropy_seed: what ``os.urandom`` and unseeded generators are drawn from.
        library_key: what libraries in C and Rust draw random numbers from: 32 bytes in hexadecimal digits; empty in old
            logs, where they get the system's.
        real_clock: the program reads the real clock, and sleeps as long as it says.
        real_entropy: the program gets the system's entropy.
        preload: modules imported before the program's own code, so that forked runs need not import them.
        max_delay_ns: how late a schedule may make a thread where it ends a sleep or time-out early.
        untested: the program runs although its interpreter is of a version that replay-dd was not tested with.
        virtual_lock: a lock that the scheduler adds, as an experiment.
        virtual_order: the same for an order.
        virtual_barrier: the same for a barrier.
        virtual_notify_all: the same for notifications of all threads that wait.
    """

    granularity: Granularity = "access"
    include: tuple[ModuleName, ...] = ()
    exclude: tuple[ModuleName, ...] = ()
    start_ns: Count = 0
    entropy_seed: Hash64 = 1
    real_clock: bool = False
    real_entropy: bool = False
    preload: tuple[ModuleName, ...] = ()
    untested: bool = False
    max_delay_ns: Count = 100_000_000
    virtual_lock: VirtualLock | None = None
    virtual_order: VirtualOrder | None = None
    virtual_barrier: VirtualBarrier | None = None
    virtual_notify_all: VirtualNotifyAll | None = None
    library_key: EntropyKey = ""

    @property
    def virtual(self) -> Virtual | None:
        """Whichever of them is set."""
        return self.virtual_lock or self.virtual_order or self.virtual_barrier or self.virtual_notify_all

    def with_virtual(self, virtual: Virtual | None) -> Settings:
        """The same with one of them, or without."""
        return replace(
            self,
            virtual_lock=virtual if isinstance(virtual, VirtualLock) else None,
            virtual_order=virtual if isinstance(virtual, VirtualOrder) else None,
            virtual_barrier=virtual if isinstance(virtual, VirtualBarrier) else None,
            virtual_notify_all=virtual if isinstance(virtual, VirtualNotifyAll) else None,
        )


@dataclass(frozen=True)
class Program:
    """The program that was recorded.

    Attributes:
        command: program and arguments.
        directory: the working directory.
        environment: the variables that are the same in each run, by name.
        standard_input: what the program could read.
        fresh_copy: whether each run gets a fresh copy of the working directory.
        python: version of its interpreter.
        executable: its interpreter.
        files: short name and hash of each source file whose code was counted.
        paths: where those of them stand that are not below the working directory.
        process: which of the command's Python processes is under control: its number or the name of its script; empty
            for the only one.
        withheld: names of variables that were set, and whose values are not kept because they look like secrets; None
            in an old log, whose environment is not the whole one.
        limits: those of resources, as :mod:`replay_dd.experiment.resource_limits` names them; old logs have none.
    """

    command: Annotated[tuple[Argument, ...], Rule("a program and its arguments", len)]
    directory: Name
    environment: Mapping[VariableName, Argument] = field(default_factory=dict)
    standard_input: bytes = b""
    fresh_copy: bool = False
    python: str = ""
    executable: Argument = ""
    files: Mapping[Name, FileHash] = field(default_factory=dict)
    paths: Mapping[Name, Name] = field(default_factory=dict)
    withheld: tuple[VariableName, ...] | None = None
    process: Name = ""
    limits: Mapping[ResourceName, ResourceLimit] = field(default_factory=dict)


@dataclass(frozen=True)
class Log:
    """A recorded run, whole.

    Attributes:
        program: what ran.
        settings: what was counted and held fixed.
        strategy: how the schedule came about, in words.
        switches: what happened, in order.
        ending: how it ended.
        verified: whether a replay gave the same digest; None where that was not tried.
        arrivals: what came from outside and when, as the runtime told it; see ``runtime/baton/moments.py``.
        failure: text that was asked for: a failure counts only if its description contains it.
    """

    program: Program
    settings: Settings
    strategy: str
    switches: tuple[Switch, ...]
    ending: Ending
    verified: bool | None = None
    arrivals: tuple[tuple[Any, ...], ...] = ()
    failure: str = ""

    def with_note(self, note: str) -> Log:
        """The same log, with one more note of what else the user should know."""
        return replace(self, ending=replace(self.ending, notes=(*self.ending.notes, note)))

    @property
    def triggers(self) -> tuple[Trigger, ...]:
        """The schedule: the choices that were not the default ones, in order."""
        return tuple(switch.trigger for switch in self.switches if not switch.by_default)

    @property
    def stuck_calls(self) -> frozenset[tuple[str, int]]:
        """(thread, thread time) of the switches at which the baton was taken from a call that was not under control."""
        calls = [(arrival[1], arrival[-1]) for arrival in self.arrivals if isinstance(arrival[-1], tuple)]
        return frozenset((thread, answer[1] + 1) for thread, answer in calls if answer[:1] == ("away",))

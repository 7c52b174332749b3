"""The parts of the runtime in this process, made out of the request of a run."""

from __future__ import annotations

import os
import sys

from .backends.choose import choose_backend
from .baton.clock import Clock
from .baton.scheduler import Scheduler
from .baton.stuck_calls import StuckCalls
from .channel import Channel
from .compat import DISABLE
from .hangs.circles import Circles
from .hangs.spins import Spins
from .io.descriptors import Descriptors
from .io.pipes import Pipes
from .io.sockets import Sockets
from .io.ssl import Tls
from .points.bytecode import SYNC
from .points.places import Places
from .process.child_processes import children_run
from .process.fork_server import why_not_to_stop
from .process.program_fork import ProgramFork
from .process.run_end import RunEnd
from .process.stuck_processes import stuck_for_ever
from .stdlib import locks
from .stdlib.early_stop import EarlyStop
from .stdlib.file_times import FileTimes
from .stdlib.process_number import ProcessNumber
from .stdlib.signals import Signals
from .stdlib.threads import ThreadStarter

TYPE_CHECKING = False  # module `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Parts:
    """All that has a state.

    Args:
        request: what the tool asks for.
        begin: called once, before the first thread starts.
        take_run: waits for runs, and goes on in copies of the process.
    """

    def __init__(self, request: dict[str, Any], begin: Callable[[], None], take_run: Callable[[], None]) -> None:
        self.request = request
        self.run: dict[str, Any] | None = None  # the request of this copy's run, once the process is a copy
        self.channel = Channel(request["channel"])
        self.own_descriptors = {self.channel.descriptor}
        self.process_number = ProcessNumber()
        self.run_end = RunEnd(self.channel, self.process_number)
        self.clock = Clock(request["start_ns"])
        self.file_times = FileTimes(self.clock)
        places = Places(
            os.getcwd(),
            tuple(request["include"]),
            tuple(request["exclude"]),
            command_line="-c" in sys.orig_argv[1:] and sys.argv[0] == "-c",
        )
        self.scheduler = Scheduler(self.clock, places, self.channel.send, self.run_end.deadlock, DISABLE)
        self.scheduler.when_asked = self.run_end.when_asked
        self.scheduler.unwinds = self.run_end.exits.unwinds
        if request["granularity"] != SYNC:  # which hides what the program asks outside
            self.scheduler.circles = Circles(self.scheduler, self.run_end.endless)
            self.scheduler.spins = Spins(self.scheduler)
        self.stuck_calls = StuckCalls(self.scheduler)
        self._watch_instructions(request)
        self.backend, self.backend_reason = choose_backend(self.scheduler, request["granularity"])
        self.run_end.scheduler, self.run_end.backend = self.scheduler, self.backend
        self.scheduler.count_again = lambda: self.backend.thread_started()
        locks.use_scheduler(self.scheduler)
        self.descriptors = Descriptors(self.scheduler)
        self.descriptors.children_run, self.descriptors.stuck_for_ever = children_run, stuck_for_ever
        self.descriptors.stop = self.run_end.stop
        self.stuck_calls.standard_streams = self.descriptors.standard_streams
        self.sockets, self.pipes = Sockets(self.descriptors), Pipes(self.descriptors)
        self.tls = Tls(self.descriptors, self.clock)
        self.databases: Any = None  # there when the program has loaded SQLite
        self.signals = Signals(self.scheduler, self.process_number)
        self.signals.children_run, self.signals.are_pair = children_run, self.descriptors.are_pair
        is_away = self.scheduler.moments.somebody_is_away
        self.scheduler.moments.somebody_is_away = lambda: is_away() or self.signals.may_come()
        self.starter = ThreadStarter(
            *(self.scheduler, begin, lambda: self.backend.thread_started(), self.run_end.exception_in_thread)
        )
        self.fork = ProgramFork(
            *(self.channel, self.run_end, self.scheduler, lambda: self.backend.end(), self.descriptors, self.starter)
        )
        # What the program did before its first thread that copies of the process would not do again.
        self.effects: list[str] = []
        self.harmless = {os.devnull, request["system_names"]}  # files that copies of the process may share
        number, paths = request["stop_early"]
        self.early = EarlyStop(number, paths, self.harmless, self._why_not_to_stop, take_run)
        self.descriptors.before_opening = self.early.occasion
        if request["server"] < 0:
            self.early.end()

    def _why_not_to_stop(self) -> str:
        if self.descriptors.forked:
            return "it has forked"
        return (self.effects or [""])[0] or why_not_to_stop(self.own_descriptors | {self.request["server"]})

    def report_instructions(self, run: dict[str, Any]) -> None:
        """In a copy, whose run was not known when the back end was chosen: choose another one if the run needs it."""
        if self._watch_instructions(run):
            self.backend, _ = choose_backend(self.scheduler, self.request["granularity"])
            self.run_end.backend = self.backend

    def _watch_instructions(self, run: dict[str, Any]) -> bool:
        """Whether a run reports not only yield points."""
        if run["executed"]:
            from .backends.executed import ExecutedTrace  # only few runs need it

            self.scheduler.executed = ExecutedTrace(self.scheduler, *run["executed"])
        if run["followed"]:
            from .accesses.follower import Follower

            self.scheduler.executed = Follower(self.scheduler, *run["followed"])
        return self.scheduler.executed is not None

    def follow(self, run: dict[str, Any]) -> None:
        """Hold to what a request says of another run: when something came from outside, which calls were stuck."""
        arrivals = run["arrivals"]
        self.scheduler.max_delay_ns = run["max_delay_ns"]
        self.scheduler.answers.come_first = "answers_first" in run["options"]
        self.scheduler.moments.real_time = run["real_clock"] or run["strategy"] == "natural"
        moments = self.scheduler.moments
        moments.follow(arrivals, following=run["strategy"] == "replay")
        self.signals.follow()
        self.scheduler.log.follow(run["digests"], moments.stray)
        moments.patience.follow(run["exact"], run["patience_s"], run["recorded_s"])
        self.stuck_calls.follow(arrivals)
        if self.databases is not None:
            self.databases.follow()

"""Runs one program many times: forks it where that is sound, or starts a fresh process for each run.

Rules of this module:

* A program that cannot be forked at its first thread is forked earlier if it can be (see early_stop.py), or else runs
  in fresh processes; the reason is recorded.
* Parallel runs have a server each, once the search lasts: see server_pool.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from replay_dd.experiment.forked import CannotForkError
from replay_dd.experiment.process import LIVE
from replay_dd.schedules.model import Program, Settings
from replay_dd.schedules.running.early_stop import EarlyStops
from replay_dd.schedules.running.first_thread import Start, start_program
from replay_dd.schedules.running.fork_server_client import ForkServer
from replay_dd.schedules.running.program_files import forget_files
from replay_dd.schedules.running.server_pool import ServerPool
from replay_dd.schedules.running.target import Plan, TargetRun, run_target

NO_FORK = "forking is switched off"
NO_THREAD = "it starts no thread"


class Runner:
    """Runs one program under many plans, forking where possible; thread-safe.

    Args:
        program: what to run.
        settings: what to count and hold fixed.
        may_fork: use fork servers where the program allows it.
        start: starts a program that is to be forked.
        only: where preemptions come in all runs, whatever their plans say; empty for anywhere. See
            :mod:`~replay_dd.schedules.hunting.only_where`.
        on_fresh: told once, in words, why runs use fresh processes where nobody asked for them.

    Attributes:
        settings: as given.
        why_fresh: why runs use fresh processes; empty while they are forked.
    """

    def __init__(
        self,
        program: Program,
        settings: Settings,
        *,
        may_fork: bool = True,
        start: Start = start_program,
        only: str = "",
        on_fresh: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._program = program
        self._only = only
        self.settings = settings
        self._on_fresh = on_fresh
        self._early = early = EarlyStops()
        self._servers = ServerPool(lambda: ForkServer(program, settings, start, early))
        self.why_fresh = ""
        if not may_fork:
            self.why_fresh = NO_FORK
        elif program.fresh_copy:
            self.why_fresh = "each run has a working directory of its own"
        elif not hasattr(os, "fork") or not Path("/proc/self/fd").is_dir():
            self.why_fresh = "this system has no /proc"

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all servers."""
        self._servers.close()
        forget_files()

    def stop_forking(self, reason: str) -> None:
        """Use fresh processes from now on."""
        if self.why_fresh:
            return
        self.why_fresh = reason
        if reason != NO_THREAD:
            self._on_fresh(f"each run is a fresh process, which takes longer than a forked one: {reason}")

    def run(self, plan: Plan, time_limit_s: float | None) -> TargetRun:
        """Run the program once.

        Raises:
            ProgramNotFoundError, NotControlledError: it cannot be run, or not under the scheduler.
            CannotForkError: all servers were ended meanwhile.
        """
        plan = replace(plan, only=self._only) if self._only else plan
        while not self.why_fresh:
            try:
                run = self._run_at_server(plan, time_limit_s)
            except CannotForkError as error:
                if self._servers.closed or LIVE.stopped:  # nobody waits for this run any more
                    raise
                self.stop_forking(str(error))
            else:
                if run is not None:
                    return run
        run = run_target(self._program, self.settings, plan, time_limit_s=time_limit_s)
        if run.log.program.process != self._program.process:  # chosen in this run
            self._program = replace(self._program, process=run.log.program.process)
        return run

    def _run_at_server(self, plan: Plan, time_limit_s: float | None) -> TargetRun | None:
        """One run; None if it is to be made in another way."""
        server = self._servers.take()
        if not server.refusal:
            run = server.run(plan, time_limit_s)
            if server.is_still_good(run):
                self._servers.put_back(server)
            else:
                self._early.after_renewal(run.changed_files)
                self._servers.discard(server)
            return run
        try:
            if LIVE.stopped:  # it was killed, so what it told is no reason
                raise CannotForkError("the server has ended")
            if server.error is not None:
                self.stop_forking(server.refusal)
            own = server.run_itself(plan, time_limit_s)
            if own is None and not server.is_copy:  # it is one of several processes
                self.stop_forking(server.refusal)
            return own
        finally:
            self._servers.discard(server)

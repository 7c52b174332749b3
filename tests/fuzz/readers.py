"""What is done with a damaged log: read it and, if it is read, all that comes before a program is run."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from replay_dd.cli.strangers import Stranger, strange_flow, strange_log, strange_session
from replay_dd.errors import ReplayDDError
from replay_dd.errors.user import LogError
from replay_dd.events.actions import actions_of
from replay_dd.events.log import read_session
from replay_dd.events.target import check_program
from replay_dd.logfile import format_of
from replay_dd.report.events import session_as_json, session_as_text
from replay_dd.report.flow import flow_as_json, flow_as_text
from replay_dd.report.lanes import lanes
from replay_dd.report.log import describe_log, schedule_as_json
from replay_dd.report.scripts import scripts_for
from replay_dd.schedules.anchors import find_anchors
from replay_dd.schedules.isolating.difference import difference_of
from replay_dd.schedules.log import read_log
from replay_dd.schedules.model import Log
from replay_dd.schedules.replaying.comparable import check_pair, time_limit_for
from replay_dd.schedules.replaying.replay import check_there, check_unchanged, replay_plan
from replay_dd.schedules.running.target import request_of
from replay_dd.trust.variables import is_dangerous
from replay_dd.web.flow import looks_like_a_flow, read_flow
from tests.fuzz.mutations import Mutate


class Folder:
    """Stands in for the private folder of a run that is not made."""

    path = Path("folder")

    def file(self, name: str) -> str:
        """As ``PrivateFolder.file``."""
        return f"{self.path}/{name}"


def use_schedule(path: Path, sound: Log) -> None:
    """Read a schedule log; show it, say what it would run, compare it with a sound one, and prepare its replay."""
    log = read_log(path)
    check_told(strange_log(log, path))
    list(describe_log(log))
    list(lanes(log))
    json.dumps(schedule_as_json(log))
    for passing, failing in ((log, sound), (sound, log), (log, log)):
        with contextlib.suppress(ReplayDDError):
            check_pair(passing, failing, accept_changes=True)
            check_pair(passing, failing, accept_changes=False)
    difference = difference_of(log, sound)
    difference.triggers(difference.all)
    find_anchors(log)
    for check in (check_there, check_unchanged):
        with contextlib.suppress(ReplayDDError):
            check(log)
    assert time_limit_for((log,)) > 0
    request_of(log.settings, replay_plan(log.triggers, log.arrivals), Folder())  # type: ignore[arg-type]


def use_session(path: Path) -> None:
    """Read an event log, show it, say what it would run, and make the actions that would be played, and scripts."""
    session = read_session(path)
    check_told(strange_session(session, path))
    list(session_as_text(session))
    json.dumps(session_as_json(session))
    for script in scripts_for(session, actions_of(session), "" if session.ending is None else session.ending.text):
        if script.file_name.endswith(".py"):
            ast.parse(script.text.encode())
    with contextlib.suppress(ReplayDDError):
        check_program(session)


def check_told(stranger: Stranger) -> None:
    """What a recording would run is told, without dangerous variables but those that are here."""
    assert any(line.startswith("command") for line in stranger.told)
    environment = stranger.tamed.program.environment
    assert all(os.environ.get(name) == value for name, value in environment.items() if is_dangerous(name, value))


def use_flow(path: Path) -> None:
    """Read a user flow, say what it would open, and show it."""
    looks_like_a_flow(path)
    flow = read_flow(path)
    strange_flow(flow, path)
    list(flow_as_text(flow))
    json.dumps(flow_as_json(flow))


def fuzz(mutate: Mutate, use: Callable[[Path], None], path: Path, seeds: range) -> tuple[Counter[str], dict[str, int]]:
    """Use damaged logs, one for each seed.

    Returns:
        How many ended in which way, and for each kind of traceback the seed that leads to it.
    """
    ends: Counter[str] = Counter()
    tracebacks: dict[str, int] = {}
    for seed in seeds:
        path.write_bytes(mutate(random.Random(seed)))
        try:
            format_of(path)
            use(path)
            ends["read"] += 1
        except LogError as error:
            # A message must neither obey the log nor repeat all of it.
            fit = error.message.isprintable() and len(error.message) < 1000
            ends[error.slug if fit else "unfit message"] += 1
        except Exception as error:
            trace = error.__traceback__
            while trace is not None and trace.tb_next is not None:
                trace = trace.tb_next
            where = "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
            tracebacks.setdefault(f"{type(error).__name__} at {where}: {str(error)[:80]}", seed)
            ends["traceback"] += 1
    return ends, tracebacks

"""Are logs replayed exactly, however often? ``python -m tests.compatibility --replays 1000 [PYTHON]``.

Rules of this module:

* Logs are made as ``replay-dd record`` makes them: one under the default schedule and some under random ones, each
  verified by a replay.
* A replay is *exact* if its digest and its ending are those of the log.
* Replays are forked where the program allows that, as in a search; every tenth one is a fresh process all the same.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Log, Program, Settings
from replay_dd.schedules.replaying.record import record
from replay_dd.schedules.replaying.replay import exact_plan, find_divergence
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import describe_program, run_target
from tests.compatibility import packages, suites
from tests.conftest import PROJECT

_LIMIT_S = 120
_SEEDS = range(1, 4)
_FRESH_EVERY = 10
_START_NS = 1_700_000_000_000_000_000

# One test with threads of each of these packages; the demos are in front of them.
_TESTS = (
    ("apscheduler", "tests/test_executors.py::test_max_instances[zoneinfo-threadpool]"),
    ("asgiref", "tests/test_local.py::test_local_thread_nested"),
    ("cachetools", "tests/test_threading.py::ThreadingTest::test_cached_cond"),
    ("fasteners", "tests/test_lock.py::test_no_concurrent_readers_writers[True]"),
    ("huey", "huey/tests/test_consumer.py::TestConsumerIntegration::test_consumer_minimal"),
    ("janus", "tests/test_mixed.py::TestMixedMode::test_sync_put_async_get"),
    ("prometheus_client", "tests/test_core.py::TestGauge::test_function_decorator_multithread"),
    ("pykka", "tests/proxy/test_attribute_access.py::test_attr_can_be_set_using_assignment[threading]"),
    ("waitress", "tests/test_server.py::TestWSGIServer::test_ctor_makes_dispatcher"),
    ("watchdog", "tests/test_observer.py::test_schedule_after_unschedule_all"),
)


@dataclass(frozen=True)
class Row:
    """What became of one program: its logs, their replays, and how many of these were exact."""

    name: str
    threads: int
    logs: int
    replays: int
    exact: int
    forked: bool


def judge_replays(interpreter: Path, version: str, replays: int) -> list[Row]:
    """Replay the logs of every program, so many times all told."""
    rows = []
    left = len(_TESTS) + 2
    for name, command, files, fresh_copy in _programs(interpreter, version):
        share = -(-(replays - sum(row.replays for row in rows)) // left)
        left -= 1
        with tempfile.TemporaryDirectory(prefix="replay-dd-replays-") as folder:
            directory = Path(folder) / "work"
            shutil.copytree(files, directory)
            program = describe_program(command, directory=directory, fresh_copy=fresh_copy)
            rows.append(_judge_program(name, program, share))
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def _programs(interpreter: Path, version: str) -> Iterator[tuple[str, tuple[str, ...], Path, bool]]:
    """Name, command, the folder that it needs a copy of, and whether each run needs its own."""
    python = packages.environment_with(interpreter, version)
    arguments = ("htpasswd.py", "-c", "users", "--verify", "alice:one", "bob:two")
    yield "demo: htpasswd", (str(python), *arguments), PROJECT / "demos" / "htpasswd", True
    yield "demo: socketio", (str(python), "join_room.py"), PROJECT / "demos" / "socketio", False
    known = {suite.package: suite for suite in suites.SUITES}
    for package, test in _TESTS:
        suite = known[package]
        tester = suites.environment_for(suite, interpreter, version)
        yield f"{package}: {test}", suites.command_of(suite, tester, test), suites.source_of(suite), False


def _judge_program(name: str, program: Program, replays: int) -> Row:
    settings = Settings(start_ns=_START_NS)
    logs = [
        record(program, settings, strategy=strategy, seed=seed, time_limit_s=_LIMIT_S, show_output=False).log
        for strategy, seed in (("default", 0), *(("random", seed) for seed in _SEEDS))
    ]
    exact = 0
    with Runner(program, settings) as runner:
        for number in range(replays):
            log = logs[number % len(logs)]
            plan = exact_plan(log)
            fresh = number % _FRESH_EVERY == 0
            again = run_target(program, settings, plan, time_limit_s=_LIMIT_S) if fresh else runner.run(plan, _LIMIT_S)
            exact += is_exact(log, again.log)
        forked = not runner.why_fresh
    return Row(name, len(logs[0].ending.thread_times), len(logs), replays, exact, forked)


def is_exact(log: Log, again: Log) -> bool:
    """Whether a replay is the run of the log."""
    return find_divergence(log, again) is None and signature_of(log.ending).same(signature_of(again.ending))


def section(version: str, rows: list[Row]) -> str:
    """What the page says of it."""
    replays, exact = sum(row.replays for row in rows), sum(row.exact for row in rows)
    lines = [
        "## Replays of one log, again and again",
        "",
        f"{exact:,} of {replays:,} replays of {sum(row.logs for row in rows)} logs were exact: the same digest and the",
        f"same outcome (Python {version}). The programs are the demos and one threaded test of each of {len(_TESTS)}",
        "packages; of each, one log has the default schedule and the others have random ones. Replays are forked",
        f"from a process before its first thread, where the program allows it; one in {_FRESH_EVERY} is a new process.",
        "",
        "| Program | threads | logs | replays | exact |",
        "| --- | ---: | ---: | ---: | ---: |",
        *(f"| `{row.name}` | {row.threads} | {row.logs} | {row.replays} | {row.exact} |" for row in rows),
        f"| **Together** | | {sum(row.logs for row in rows)} | {replays} | {exact} |",
        "",
    ]
    return "\n".join(lines)

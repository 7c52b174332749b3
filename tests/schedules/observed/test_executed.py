"""What a run executed, instruction by instruction."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.model import Log, Settings, Trigger
from replay_dd.schedules.observed.executed import Executed, ExecutedRun, lines_of
from replay_dd.schedules.replaying import execution
from replay_dd.schedules.replaying.execution import executed_run, run_once_more
from replay_dd.schedules.replaying.replay import exact_plan, replay_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import describe_program, run_target

TEXT = """\
import threading


class Shared:
    value = 0


def helper(flag):
    if flag > 3:
        small = 1
    else:
        small = 2
    return small


def add(flag):
    before = shared.value
    small = helper(flag)
    for _ in range(2):
        small += 1
    with lock:
        shared.value = before + 1


shared, lock = Shared(), threading.Lock()
threads = [threading.Thread(target=add, args=(number,)) for number in (1, 5)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def log_of(folder: Path, granularity: str = "access", *triggers: Trigger) -> Log:
    (folder / "prog.py").write_text(TEXT)
    program = describe_program((sys.executable, "prog.py"), directory=folder)
    return run_target(program, Settings(granularity), replay_plan(triggers), time_limit_s=60).log


def lines(run: ExecutedRun, thread: str) -> list[int]:
    return [place.line for place in lines_of(run.of(thread))]


@pytest.mark.parametrize("granularity", ["access", "line", "gil", "sync"])
def test_the_lines_are_those_that_the_thread_executed(granularity: str, tmp_path: Path) -> None:
    run = executed_run(log_of(tmp_path, granularity), time_limit_s=60)
    assert run is not None, "the same run"
    assert run.whole
    first, second = lines(run, "0.1"), lines(run, "0.2")
    assert first == [17, 18, 9, 12, 13, 19, 20, 19, 20, 19, 21, 22, 21]
    assert second == [17, 18, 9, 10, 13, 19, 20, 19, 20, 19, 21, 22, 21]


def test_every_yield_point_is_there_once_and_in_order(tmp_path: Path) -> None:
    log = log_of(tmp_path, "access", Trigger("0.1", 4, "0.2"))
    run = executed_run(log, time_limit_s=60)
    assert run is not None
    counted = [one for one in run.instructions if one.counted]
    for thread in ("0.1", "0.2"):
        times = [one.time for one in counted if one.thread == thread]
        assert times == list(range(1, log.ending.thread_times[thread])), "the last one is the end of the thread"
    # The switch comes just before yield point 4 of thread 0.1.
    ran = [one for one in counted if one.thread != "0"]
    switched = next(number for number, one in enumerate(ran) if one.thread == "0.2")
    assert [(one.thread, one.time) for one in ran[:switched]] == [("0.1", time) for time in (1, 2, 3)]
    order = [one.global_time for one in run.instructions if one.thread == "0.2"]
    assert order == sorted(order)
    between = run.others("0.1", 0, log.ending.global_time)
    assert {one.thread for one in between} == {"0", "0.2"}
    assert run.of("0.1", 3, 4) == tuple(one for one in run.of("0.1") if one.time in (3, 4))


@pytest.mark.parametrize("granularity", ["access", "line"])
def test_a_copy_tells_what_a_fresh_process_tells(
    granularity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_of(tmp_path, granularity, Trigger("0.1", 4, "0.2"))
    fresh = executed_run(log, time_limit_s=60)
    seen = {"": (0, 1000)} if granularity == "access" else {}
    follow = replace(exact_plan(log), observed=seen, followed=(0, 10_000))
    flow = run_once_more(log, follow, 60, None).flow
    monkeypatch.setattr(execution, "run_target", None)  # no more fresh processes
    with Runner(log.program, log.settings) as runner:
        copied = executed_run(log, time_limit_s=60, runner=runner)
        copied_flow = run_once_more(log, follow, 60, runner).flow
        plain = runner.run(exact_plan(log), 60)
    assert fresh is not None
    assert copied is not None
    assert [told(one) for one in copied.instructions] == [told(one) for one in fresh.instructions]
    assert flow is not None
    assert copied_flow is not None
    assert plain.executed == (), "the next copy does not"
    assert plain.log.ending.digest == log.ending.digest


def told(one: Executed) -> Executed:
    """Without the identity of the frame, which is an address."""
    return replace(one, frame=0)


def test_a_copy_whose_run_is_another_one_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of(tmp_path)
    other = run_target(log.program, log.settings, replay_plan([Trigger("0.1", 4, "0.2")]), time_limit_s=60)
    with Runner(log.program, log.settings) as runner:
        monkeypatch.setattr(Runner, "run", lambda self, plan, limit: other)
        run = run_once_more(log, exact_plan(log), 60, runner)
    assert run.log.ending.digest == log.ending.digest


def test_a_run_that_is_not_the_one_in_the_log_tells_nothing(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    assert executed_run(replace(log, ending=replace(log.ending, digest=1)), time_limit_s=60) is None
    assert executed_run(replace(log, ending=replace(log.ending, global_time=10**9)), time_limit_s=60) is None

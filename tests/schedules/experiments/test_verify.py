"""Whether a repair holds: repaired, still failing, failing otherwise, or nobody can tell."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from replay_dd.outcome import Outcome
from replay_dd.report.verification import verification_as_json, verification_in_words
from replay_dd.schedules.anchors import named
from replay_dd.schedules.experiments import verify
from replay_dd.schedules.experiments.sweep import MOST_OUTSIDE, moved, sweeps
from replay_dd.schedules.experiments.verify import (
    CANNOT_TELL,
    FAILS_OTHERWISE,
    REPAIRED,
    STILL_FAILS,
    Verification,
    verify_repair,
)
from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.hunting.hunt import hunt
from replay_dd.schedules.hunting.options import HuntOptions
from replay_dd.schedules.log import read_log, write_log
from replay_dd.schedules.model import Ending, Log, Place, Settings, Switch
from replay_dd.schedules.replaying.anchored_replay import AnchoredReplay
from replay_dd.schedules.running.target import describe_program
from tests.schedules.logs import FAILED, log_of

pytestmark = pytest.mark.once

CACHE = """\
import threading
class Cache:
    def __init__(self):
        self.rooms = {}
    def enter(self, room, who):
        if room not in self.rooms:
            self.rooms[room] = set()
        self.rooms[room].add(who)
cache = Cache()
threads = [threading.Thread(target=cache.enter, args=("hall", who)) for who in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(cache.rooms["hall"]) == 2, cache.rooms
"""
BODY = CACHE[CACHE.index("        if room") : CACHE.index("cache = Cache")]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Log:
    folder = tmp_path_factory.mktemp("cache")
    (folder / "prog.py").write_text(CACHE)
    found = hunt(describe_program((sys.executable, "prog.py"), directory=folder), Settings(), HuntOptions(runs=50))
    assert found.failing is not None
    write_log(found.failing, folder / "fail.log")
    return read_log(folder / "fail.log")


def verified(recorded: Log, text: str, runs: int = 6) -> Verification:
    Path(recorded.program.directory, "prog.py").write_text(text)
    return verify_repair(recorded, runs=runs)


def told(made: Verification) -> list[str]:
    return list(verification_in_words(made, Path("still-fails.log")))


def test_what_has_not_changed_still_fails(recorded: Log) -> None:
    made = verified(recorded, CACHE)
    assert (made.verdict, made.found_by, made.changed) == (STILL_FAILS, "the old schedule", ())
    assert made.failing is not None
    assert told(made)[0] == "verdict      still fails"
    assert "replay       replay-dd replay still-fails.log" in told(made)


def test_a_repair_around_the_old_lines_keeps_their_anchors(recorded: Log) -> None:
    inside = "        with lock:\n" + textwrap.indent(BODY, "    ")
    made = verified(recorded, CACHE.replace(BODY, inside).replace("cache =", "lock = threading.Lock()\ncache ="))
    assert (made.verdict, made.changed) == (REPAIRED, ("prog.py",))
    assert made.anchored is not None
    assert not made.anchored.missed
    assert made.near > 0
    assert made.hunted == 6
    assert told(made)[0] == f"verdict      repaired: 0 of {made.schedules} schedules fail"
    assert told(made)[-1] == "This is not a proof: other schedules were not tried."


def test_where_the_line_is_gone_its_function_is_swept(recorded: Log) -> None:
    made = verified(recorded, CACHE.replace(BODY, "        self.rooms.setdefault(room, set()).add(who)\n"))
    assert made.verdict == REPAIRED
    assert made.anchored is not None
    assert len(made.anchored.missed) == 1
    (sweep,) = made.swept
    assert (sweep.function, sweep.whole, made.near) == ("Cache.enter", True, 0)
    assert len(sweep.times) > 2
    assert any(line.startswith("not found    thread") for line in told(made))
    assert verification_as_json(made, Path("x.log"))["swept"][0]["schedules"] == len(sweep.times)


def test_where_the_function_is_gone_all_of_its_file_is_swept(recorded: Log) -> None:
    """Under another name, the bug is found; without it, the answer says what was tried."""
    found = "        found = self.rooms.get(room)\n        if found is None:\n            self.rooms[room] = {who}\n"
    body = found + "        else:\n            found.add(who)\n"
    made = verified(recorded, CACHE.replace(BODY, body).replace("enter", "join"), runs=0)
    assert made.verdict == STILL_FAILS
    assert made.found_by.startswith("swept, in thread 0.1: thread 0.1 to 0.2 at its yield point ")
    other = CACHE.replace(BODY, "        self.rooms.setdefault(room, set()).add(who)\n").replace("enter", "join")
    made = verified(recorded, other, runs=0)
    assert made.verdict == REPAIRED
    assert any("in prog.py" in line and "(it no longer comes to Cache.enter)" in line for line in told(made))
    assert verification_as_json(made, Path("x.log"))["swept"][0]["gone"] == "Cache.enter"


def test_a_repair_that_only_looks_like_one_still_fails(recorded: Log) -> None:
    other = "        found = self.rooms.get(room)\n        if found is None:\n            self.rooms[room] = {who}\n"
    made = verified(recorded, CACHE.replace(BODY, other + "        else:\n            found.add(who)\n"), runs=0)
    assert made.verdict == STILL_FAILS
    assert made.found_by.startswith("swept, in Cache.enter: thread 0.1 to 0.2 at its yield point ")
    assert made.failing is not None
    assert made.failing.triggers


def test_another_failure_is_no_repair(recorded: Log) -> None:
    made = verified(recorded, CACHE.replace(BODY, "        raise KeyError(room)\n"), runs=0)
    assert made.verdict == FAILS_OTHERWISE
    assert "KeyError" in made.failure
    assert told(made)[0] == "verdict      fails otherwise: not as recorded, but every run fails"
    assert "found by     every schedule, first by the old schedule" in told(made)
    made.runs += 1
    assert told(made)[0].endswith(f"but {made.failed} of {made.runs} runs fail")
    assert "found by     the old schedule" in told(made)


SLEEPS = """\
import threading, time
is_open = True
def use():
    time.sleep(0.02)
    assert is_open
def close():
    global is_open
    is_open = False
thread = threading.Thread(target=use)
thread.start()
close()
thread.join()
"""


def test_a_sleep_instead_of_a_repair_is_told(tmp_path: Path) -> None:
    """It passes as long as no thread is late; with that allowed, it still fails."""
    (tmp_path / "prog.py").write_text(SLEEPS)
    found = hunt(
        describe_program((sys.executable, "prog.py"), directory=tmp_path),
        Settings(),
        HuntOptions(runs=20, simplify=False),
    )
    assert found.failing is not None
    write_log(found.failing, tmp_path / "fail.log")
    log = read_log(tmp_path / "fail.log")
    (tmp_path / "prog.py").write_text(SLEEPS.replace("\nclose()", "\ntime.sleep(1)\nclose()"))
    made = verify_repair(log, runs=6)
    assert (made.verdict, made.max_delay_s) == (REPAIRED, 0.1)
    assert 0.1 < made.asleep_s <= 1
    assert told(made)[0].endswith("schedules fail, if no thread is more than 0.1 s late")
    assert any(line.startswith("but ") and "`--max-delay 1`" in line for line in told(made))
    made = verify_repair(replace(log, settings=replace(log.settings, max_delay_ns=2 * 10**9)), runs=40)
    assert made.verdict == STILL_FAILS


def test_without_the_old_place_nobody_can_tell(recorded: Log) -> None:
    """Also not if it passes: the switch may be needed somewhere else now."""
    gone = "import threading\nfor _ in range(2): threading.Thread(target=print).start()\n"
    made = verified(recorded, gone, runs=0)
    assert made.verdict == CANNOT_TELL
    assert "cannot be followed any more" in made.why
    none = f"0 of {made.schedules} schedules fail"
    assert told(made)[0].startswith(f"verdict      cannot tell: {none}, but the old schedule cannot be followed")
    assert told(made)[1].startswith("next         hunt the program as it is now")


def test_a_program_without_threads_has_one_schedule(recorded: Log) -> None:
    assert verified(recorded, "print(1)\n", runs=4).verdict == REPAIRED


def test_a_run_that_does_not_end_is_no_verdict() -> None:
    made = Verification(anchored=AnchoredReplay(None, (), (), Outcome.PASS))  # type: ignore[arg-type]
    judge = verify._Judge(made, signature_of(FAILED))
    judge.look_at(SimpleNamespace(log=log_of([]), least_asleep_ns=0), "hunted")  # type: ignore[arg-type]
    assert verify._verdict(made, False) == (REPAIRED, "")
    unended = SimpleNamespace(log=log_of([], Ending(None, timed_out=True)), least_asleep_ns=0)
    judge.look_at(unended, "hunted")  # type: ignore[arg-type]
    verdict, why = verify._verdict(made, False)
    assert verdict == CANNOT_TELL
    assert why.startswith("1 of the runs ended without a verdict")


def test_ctrl_c_ends_it(recorded: Log) -> None:
    def on_run(text: str) -> None:
        raise KeyboardInterrupt

    made = verify_repair(recorded, runs=0, on_run=on_run)
    assert (made.verdict, made.interrupted, made.why) == (CANNOT_TELL, True, "interrupted")


# -- sweeps ----------------------------------------------------------------------------------------------------------


def place(function: str, line: int = 7) -> Place:
    return Place("prog.py", "prog.py", line, 1, function, "LOAD_ATTR", True)


def switch(time: int, where: Place | None, thread: str = "0.1", to: str = "0.2") -> Switch:
    return Switch(thread, time, to, False, False, where, time, 1)


def test_switches_are_moved_one_at_a_time() -> None:
    first, second = switch(3, place("f")), switch(40, place("f"), "0.2", "0.1")
    plans = list(moved(log_of([first, second, replace(switch(50, None), by_default=True)])))
    times = [tuple(trigger.time for trigger in plan.triggers) for plan in plans]
    assert times == [
        *((time, 40) for time in (1, 2, 4, 5, 6, 7, 8, 9)),
        *((3, time) for time in (34, 35, 36, 37, 38, 39, 41, 42, 43, 44, 45, 46)),
    ]


def test_a_sweep_gives_way_everywhere_in_the_function() -> None:
    old = log_of([switch(5, place("f.<locals>.<listcomp>")), switch(6, place("f")), switch(9, None)], FAILED)
    trace = [("0.1", place("g")), ("0.2", place("f")), ("0.1", place("f")), ("0.1", None), ("0.1", place("f"))]
    (sweep,) = sweeps(old, trace, ["0", "0.1", "0.2"])  # both switches are in one function
    assert (sweep.thread, sweep.function, sweep.times, sweep.whole) == ("0.1", "f", (2, 4), True)
    assert [plan.triggers for plan in sweep.plans] == [(("0.1", time, "0.2"),) for time in (2, 4)]
    assert list(sweeps(old, trace, ["0", "0.1"])) == []  # nobody to give way to
    assert named(place("f.<locals>.<listcomp>")) == "f"


def test_where_the_function_is_not_passed_its_file_is_swept() -> None:
    trace = [("0.1", replace(place("g"), file="other.py")), *[("0.1", place("g"))] * (3 * MOST_OUTSIDE + 1)]
    (sweep,) = sweeps(log_of([switch(5, place("f"))], FAILED), trace, ["0.1", "0.2"])
    assert (sweep.function, sweep.file, sweep.gone, sweep.whole) == ("", "prog.py", "f", False)
    assert sweep.times == tuple(range(2, 3 * MOST_OUTSIDE + 3, 4))
    assert not sweep.tells


def test_where_not_even_the_file_is_passed_the_whole_thread_is_swept() -> None:
    trace = [("0.1", replace(place("g"), file="other.py"))] * 3
    (sweep,) = sweeps(log_of([switch(5, place("f"))], FAILED), trace, ["0.1", "0.2"])
    assert (sweep.file, sweep.times, sweep.tells) == ("", (1, 2, 3), False)

"""Programs that trace or profile themselves see what they see without us, and are under the schedule all the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.compat import FREE_THREADED
from tests.runtime.programs import (
    assert_same,
    output_of,
    random_walk,
    replayed,
    run_program,
    written_under_every_schedule,
    written_without_us,
)

SCHEDULES = 5

_FIRST = """
import sys, threading
first = threading.Thread(target=int)
first.start()
first.join()
def helper(number):
    doubled = number * 2
    return doubled
def work():
    for number in range(3): helper(number)
class Watch:
    def __init__(self, name): self.name, self.seen = name, []
    def __call__(self, frame, event, argument):
        if frame.f_code.co_name in ("work", "helper"):
            self.seen.append((frame.f_code.co_name, event, frame.f_lineno))
            return self
def run(*threads):
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def say(*watches):
    for watch in watches: print(watch.name, len(watch.seen), sorted(set(watch.seen)))
"""

PROGRAMS = {
    "a thread traces itself, and stops": """
def traced(watch):
    sys.settrace(watch)
    work()
    print(sys.gettrace() is watch)
    sys.settrace(None)
    work()
    print(sys.gettrace())
one, other = Watch("one"), Watch("other")
run(threading.Thread(target=traced, args=(one,)), threading.Thread(target=work))
sys.settrace(other)
work()
sys.settrace(None)
say(one, other)
""",
    "all new threads are traced": """
watch = Watch("all")
threading.settrace(watch)
print(threading.gettrace() is watch)
run(*[threading.Thread(target=work) for _ in range(3)])
threading.settrace(None)
run(threading.Thread(target=work))
say(watch)
""",
    "what was there is put back": """
def careful():
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        work()
    finally:
        sys.settrace(before)
    work()
    print(before, sys.gettrace())
watch = Watch("within")
run(threading.Thread(target=careful), threading.Thread(target=work))
say(watch)
""",
    "a frame that runs already, as a debugger does": """
def debugged():
    frame = sys._getframe()
    lines = []
    def local(frame, event, argument):
        lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
        return local
    frame.f_trace = local
    sys.settrace(lambda frame, event, argument: None)
    value = 1
    value += 1
    sys.settrace(None)
    value += 1
    print(lines)
run(threading.Thread(target=debugged), threading.Thread(target=work))
""",
    "a tracer that raises is removed": """
def careless(frame, event, argument):
    if frame.f_code is helper.__code__: raise ValueError("no")
    return None
def traced():
    sys.settrace(careless)
    try:
        work()
    except ValueError as error:
        print(error, sys.gettrace())
    work()
run(threading.Thread(target=traced), threading.Thread(target=work))
""",
    "profilers": """
def profiled(watch):
    before = sys.getprofile()
    sys.setprofile(watch)
    work()
    sys.setprofile(before)
    work()
    print(before)
one, all_new = Watch("one"), Watch("all")
run(threading.Thread(target=profiled, args=(one,)), threading.Thread(target=work))
threading.setprofile(all_new)
run(*[threading.Thread(target=work) for _ in range(2)])
threading.setprofile(None)
say(one, all_new)
""",
}


@pytest.mark.parametrize("accelerator", ["on", "off"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_writes_what_it_writes_without_us(
    name: str, accelerator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name.startswith("a frame that runs") and accelerator == "off" and sys.version_info < (3, 12):
        pytest.skip(
            "the program's trace function takes the place of ours in that frame, with the events that ours wants"
        )
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", accelerator)
    displaces = sys.version_info < (3, 12) and name != "profilers"
    written = written_under_every_schedule(tmp_path, _FIRST + PROGRAMS[name], SCHEDULES, notes=int(displaces))
    assert written_without_us(tmp_path) == written


@pytest.mark.parametrize("accelerator", ["on", "off"])
@pytest.mark.parametrize("granularity", ["access", "line"])
def test_after_it_each_yield_point_counts_again(
    granularity: str, accelerator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those of functions that run already, and of new ones."""
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", accelerator)
    text = """
import sys, threading
class Box: value = 0
def ignore(frame, event, argument): pass
def add():
    for _ in range(100):
        box.value += 1
def work():
    sys.settrace(chosen)
    sys.settrace(None)
    for _ in range(100):
        box.value += 1
    add()
box, chosen = Box(), CHOSEN
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    settings = Settings(granularity=granularity)
    usual = run_program(tmp_path, text.replace("CHOSEN", "None"), random_walk(1), settings=settings)
    traced = run_program(tmp_path, text.replace("CHOSEN", "ignore"), random_walk(1), settings=settings)
    assert (output_of(usual), output_of(traced)) == ("", "")
    counted, expected = (run.log.ending.thread_times["0.1"] for run in (traced, usual))
    assert expected > 200
    not_counted = 3 if sys.version_info < (3, 12) else 0  # the line that removes the tracer again
    if FREE_THREADED and sys.version_info >= (3, 14) and granularity == "access":
        not_counted = 205  # the interpreter forgets the first instruction of each line of the function that runs
    assert expected - not_counted <= counted <= expected
    assert_same(traced, replayed(traced.log))


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="only 3.11 traces with settrace")
@pytest.mark.skipif(accelerator is None, reason="needs the accelerator")
def test_what_the_runtime_does_in_its_turn_is_not_traced(tmp_path: Path) -> None:
    program = (
        _FIRST
        + """
names = set()
def note(frame, event, argument):
    names.add(frame.f_code.co_name)
lock = threading.Lock()
def take():
    sys.settrace(note)
    with lock: work()
    sys.settrace(None)
def tell(): print(sorted(names & {"_ask", "choose_next", "hand_on", "_wait_to_resume", "work"}))
run(*[threading.Thread(target=take) for _ in range(2)])
tell()
"""
    )
    for seed in range(SCHEDULES):
        run = run_program(tmp_path, program, random_walk(seed))
        assert output_of(run) == "['work']\n"

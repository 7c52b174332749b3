"""What the accelerator keeps of places: a handful are never in each other's way, and what it forgets it lets go.

Where it keeps a place follows from addresses, which no test can choose: many functions stand for many addresses.
"""

from __future__ import annotations

import _thread
import random
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, cast

import pytest

from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.compat import FREE_THREADED
from replay_dd.schedules.runtime.constants import DIGEST_PRIME, LOOKED_THROUGH
from replay_dd.schedules.runtime.counting.digest import MASK
from replay_dd.schedules.runtime.points import places

pytestmark = pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python")
lets_code_go = pytest.mark.skipif(FREE_THREADED, reason="without a GIL, the interpreter keeps code for good")

MANY = 3000  # more places than it keeps


class Place:
    """Stands for a place in the program; can be seen to go."""

    def __init__(self, number: int) -> None:
        self.number = number


class Scheduler:
    """What primitives and the scheduler do with the accelerator at an operation."""

    def __init__(self) -> None:
        self.thread = accelerator.ThreadCounts()
        self.thread.ident = _thread.get_ident()
        self.thread.ask_at = 1 << 60
        self.thread.hash = 0xA5A5
        self.counter = accelerator.Counter(self.thread, None)
        self.counter.counting = True
        self.places: list[weakref.ref[Place]] = []

    def operation(self) -> bool:
        """Whether the accelerator passed it; if not, it is taught the place."""
        code = sys._getframe(1).f_code
        number = int(code.co_name)
        time, digest = self.thread.time, self.counter.digest
        if self.counter.pass_operation():
            assert self.thread.time == time + 1
            assert self.counter.digest == ((digest ^ number ^ self.thread.hash) * DIGEST_PRIME) & MASK
            assert self.thread.place.number == number
            return True
        assert (self.thread.time, self.counter.digest) == (time, digest)
        place = Place(number)
        self.places.append(weakref.ref(place))
        self.counter.know(code, sys._getframe(1).f_lasti, place, number)
        self.counter.know(Scheduler.operation.__code__, LOOKED_THROUGH, None, 0)
        return False


def user(scheduler: Scheduler) -> bool:
    return scheduler.operation()


def functions(amount: int) -> list[Callable[[Scheduler], bool]]:
    """Copies of :func:`user` with code of their own, named by their numbers, which begin at 1."""
    return [FunctionType(user.__code__.replace(co_name=str(number + 1)), {}) for number in range(amount)]


def alive(references: list[weakref.ref[Any]]) -> int:
    return sum(reference() is not None for reference in references)


def test_a_handful_of_places_are_never_in_each_others_way() -> None:
    chances, everybody = random.Random(5), functions(300)
    for _ in range(2000):
        scheduler, few = Scheduler(), chances.sample(everybody, 3)  # and the place in the library, which is a fourth
        assert [function(scheduler) for function in few] == [False] * 3
        assert [function(scheduler) for function in few] == [True] * 3


def test_more_places_than_it_keeps_are_never_mixed_up() -> None:
    scheduler, everybody = Scheduler(), functions(MANY)
    for _ in range(2):
        again = []
        for function in everybody:
            again.append(function(scheduler))
            assert function(scheduler)
        assert not all(again)
    assert scheduler.thread.time >= 2 * MANY


def test_a_place_that_is_told_anew_replaces_what_was_known_of_it() -> None:
    scheduler, (function,) = Scheduler(), functions(1)
    for time in range(6):
        scheduler.thread.ask_at = 0  # so the scheduler has to look, and tells the place
        assert not function(scheduler)
        scheduler.thread.ask_at = 1 << 60
        assert function(scheduler)
        assert alive(scheduler.places) == 1, time


@lets_code_go
def test_places_that_are_put_out_are_let_go_and_so_are_all_at_its_end() -> None:
    scheduler, everybody = Scheduler(), functions(MANY)
    codes: list[weakref.ref[Any]] = [weakref.ref(function.__code__) for function in everybody]
    for function in everybody:
        function(scheduler)
    del everybody, function
    kept = alive(scheduler.places)
    assert 0 < kept < MANY
    assert alive(codes) == kept
    places = scheduler.places
    del scheduler
    assert (alive(places), alive(codes)) == (0, 0)


@lets_code_go
def test_what_runs_when_a_place_is_put_out_may_do_operations() -> None:
    scheduler, everybody, others = Scheduler(), functions(MANY), functions(700)
    passed: list[bool] = []

    def let_go(_: weakref.ref[Any]) -> None:
        if len(passed) < len(others):  # it puts others out in turn
            function = others[len(passed)]
            passed.append(False)
            function(scheduler)
            passed.append(function(scheduler))

    codes = [weakref.ref(function.__code__, let_go) for function in everybody]
    for number in range(MANY):
        function, everybody[number] = everybody[number], user
        function(scheduler)
    del function
    assert len(codes) > len(passed) >= len(others)
    assert any(passed)


def frame_of(files: list[str]) -> FrameType:
    """The innermost frame of functions that call each other, each of one of these files, the outermost first."""
    call: Any = sys._getframe
    for file in reversed(files):
        call = eval(compile("lambda: call()", file, "eval"), {"call": call})
    return cast(FrameType, call())


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["<a>", "/program.py", "<b>", "<c>"], (True, "/program.py")),
        (["/program.py", "/of_a_runner.py", "<b>"], (False, "/of_a_runner.py")),
        (["/of_a_runner.py", "/program.py"], (True, "/program.py")),
        (["/program.py", "/new.py", "<b>"], (True, "/new.py")),
    ],
)
def test_the_innermost_frame_outside_the_library(
    files: list[str], found: tuple[bool, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for outside_library in (accelerator.outside_library, None):
        monkeypatch.setattr(places, "_outside_library", outside_library)
        known = places.Places(str(tmp_path), (), (), command_line=False)
        known.kinds.update({"/program.py": places.COUNTED, "/of_a_runner.py": places.EXCLUDED, "<b>": places.LIBRARY})
        counted, frame = known.user_frame(frame_of(files))
        assert frame is not None
        assert (counted, frame.f_code.co_filename) == found
        assert frame.f_code.co_filename in known.kinds


def test_there_may_be_no_frame_outside_the_library() -> None:
    innermost = frame_of(["<a>"])
    kinds, frame = {}, innermost
    while frame is not None:
        kinds[frame.f_code.co_filename] = places.LIBRARY
        frame = cast(FrameType, frame.f_back)
    assert accelerator.outside_library(kinds, innermost) is None
    for wrong in ((kinds, None), (None, innermost), (kinds,)):
        with pytest.raises(TypeError):
            accelerator.outside_library(*wrong)


def test_all_code_between_two_frames_is_of_the_library() -> None:
    passed = []

    def run() -> None:
        scheduler = Scheduler()
        counter = scheduler.counter
        passed.append(counter.pass_operation())
        counter.know_library(sys._getframe(), sys._getframe(1))
        passed.append(counter.pass_operation())  # the caller is not known
        counter.know_library(sys._getframe(), None)
        passed.append(counter.pass_operation())
        passed.append((scheduler.thread.time, scheduler.thread.uncounted))

    thread = threading.Thread(target=run)  # few functions, which are never in each other's way
    thread.start()
    thread.join()
    assert passed == [False, False, True, (0, 1)]
    with pytest.raises(TypeError):
        Scheduler().counter.know_library(None, None)

"""What is done to event loops, and who closes them."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest

from replay_dd.schedules.runtime.accesses.loops import ClosingLoops, is_loop, of_loop
from replay_dd.schedules.runtime.accesses.values import MISSING, UNKNOWN


class Loop(asyncio.SelectorEventLoop):
    """A program's own class of loops."""


def in_a_thread(run: Callable[[], object]) -> None:
    """Call a function where no other test has left a loop running."""
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_a_loop_is_needed_open() -> None:
    loop = Loop()
    assert is_loop(loop)
    assert not is_loop(object())
    open_ones = [of_loop(loop, name, "loop") for name in ("call_soon_threadsafe", "is_closed", "close")]
    assert [(one.reads, one.writes, one.old) for one in open_ones if one is not None] == [
        (True, False, UNKNOWN),
        (True, False, False),
        (False, True, UNKNOWN),
    ]
    loop.close()
    closed = [of_loop(loop, name, "loop") for name in ("call_soon_threadsafe", "is_closed", "stop", "close")]
    assert [one.old for one in closed if one is not None] == [MISSING, True, UNKNOWN, UNKNOWN]
    assert of_loop(loop, "get_debug", "loop") is None


@pytest.mark.parametrize("watched", [True, False])
def test_the_moment_is_known_at_which_the_library_closes_a_loop(watched: bool) -> None:
    closing = ClosingLoops(lambda: cast(Any, "the thread"))
    seen = []

    async def program() -> None:
        seen.append(asyncio.get_running_loop())
        if watched:
            closing.watch_running()
            closing.watch_running()
        assert closing.closed() == []

    def run() -> None:
        closing.watch_running()  # no loop runs here
        asyncio.run(program())

    in_a_thread(run)
    found = closing.closed()
    assert [(thread, loop) for thread, _, loop in found] == [("the thread", loop) for loop in seen if watched]
    names = [code.co_name for _, way, _ in found for code, _, _ in way]
    assert ("run" in names) == watched
    assert closing.closed() == []


async def _watch(closing: ClosingLoops) -> None:
    closing.watch_running()


@pytest.mark.parametrize("close", [True, False])
def test_a_loop_lives_no_longer_for_being_watched(close: bool) -> None:
    closing = ClosingLoops(lambda: cast(Any, "the thread"))
    loop = Loop()
    known = weakref.ref(loop)
    in_a_thread(partial(loop.run_until_complete, _watch(closing)))
    if close:
        loop.close()
    else:  # what is left of it by those who know better
        loop._selector.close()  # type: ignore[attr-defined]
        loop._ssock.close(), loop._csock.close()  # type: ignore[attr-defined]
        loop._closed = True  # type: ignore[attr-defined]
    del loop
    gc.collect()
    assert known() is None
    assert closing.closed() == []

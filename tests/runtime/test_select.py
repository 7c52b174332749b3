"""Functions of C that have stand-ins do not turn into methods where a class has them as attributes."""

from __future__ import annotations

from pathlib import Path

from tests.runtime.programs import assert_same, output_of, replayed, run_program, written_without_us

SELECTORS = """
    import asyncio, selectors, socket, threading
    def look():
        for kind in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
            one, other = socket.socketpair()
            with kind() as selector, one, other:
                selector.register(one, selectors.EVENT_READ)
                print(kind.__name__, selector.select(0))
                other.send(b"x")
                print(len(selector.select(1)))
    async def ask():
        await asyncio.to_thread(look)
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    loop.run_until_complete(ask())
    loop.close()
"""

ATTRIBUTES = """
    import fcntl, ssl, threading
    class Own:
        flock, lockf, draw = fcntl.flock, fcntl.lockf, ssl.RAND_bytes
    def use():
        own = Own()
        with open("locked", "w") as file:
            own.flock(file, fcntl.LOCK_EX)
            own.flock(file, fcntl.LOCK_UN)
            own.lockf(file, fcntl.LOCK_EX)
        print(len(own.draw(4)))
    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
"""


def test_each_selector_works(tmp_path: Path) -> None:
    run = run_program(tmp_path, SELECTORS)
    assert output_of(run) == written_without_us(tmp_path)
    assert_same(run, replayed(run.log))


def test_functions_of_c_are_no_methods(tmp_path: Path) -> None:
    run = run_program(tmp_path, ATTRIBUTES)
    assert output_of(run) == written_without_us(tmp_path) == "4\n"

"""Signals end the waits of the main thread that they end without us, and no others."""

from __future__ import annotations

import signal
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Settings
from tests.runtime.programs import DEFAULT, assert_same, output_of, random_walk, replayed, run_program, triggered

SENDERS = {
    "interrupt_main": (False, "_thread.interrupt_main(signal.SIGUSR1)"),
    "raise_signal": (False, "signal.raise_signal(signal.SIGUSR1)"),
    "pthread_kill of itself": (False, "signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)"),
    "pthread_kill of the main thread": (True, "signal.pthread_kill(main, signal.SIGUSR1)"),
    "kill": (True, "os.kill(os.getpid(), signal.SIGUSR1)"),
}
WAITS = {
    "event": "event.wait()",
    "lock": "lock.acquire()",
    "join": "thread.join()",
    "sleep": "time.sleep(1000)",
    "queue": "queue.SimpleQueue.get(items)",
}


@pytest.mark.parametrize("wait", WAITS)
@pytest.mark.parametrize("sender", SENDERS)
def test_which_signals_end_a_wait(sender: str, wait: str, tmp_path: Path) -> None:
    """The default schedule lets the main thread wait first. A handler that returns ends no wait anyway (PEP 475)."""
    ends, send = SENDERS[sender]
    text = f"""
        import _thread, os, queue, signal, threading, time
        class Stop(Exception): pass
        def stop(number, frame):
            log.append("handled")
            raise Stop
        def work():
            {send}
            time.sleep(1)
            log.append("goes on")
            event.set(); items.put(1); lock.release()
        main, log = threading.get_ident(), []
        event, lock, items = threading.Event(), threading.Lock(), queue.SimpleQueue()
        lock.acquire()
        signal.signal(signal.SIGUSR1, stop)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            {WAITS[wait]}
            pass; pass
        except Stop:
            pass
        thread.join()
        print(log)
        """
    run = run_program(tmp_path, text)
    order = ["handled", "goes on"] if ends else ["goes on", "handled"]
    if ends and wait == "join" and sys.version_info < (3, 13):
        order = ["handled"]  # as without us: `threading` takes a thread for ended whose join was interrupted
    assert output_of(run) == f"{order}\n"
    assert_same(run, replayed(run.log))


def test_who_waits_for_ever_is_not_saved_by_interrupt_main(tmp_path: Path) -> None:
    text = """
        import _thread, threading
        lock = threading.Lock()
        lock.acquire()
        threading.Thread(target=_thread.interrupt_main).start()
        lock.acquire()
        """
    run = run_program(tmp_path, text)
    assert signature_of(run.log.ending).text.startswith("deadlock"), run.output


@pytest.mark.parametrize("granularity", ["access", "gil", "line"])
@pytest.mark.parametrize("who", ["main", "another"])
def test_an_alarm_rings_while_somebody_computes(who: str, granularity: str, tmp_path: Path) -> None:
    text = """
        import signal, threading
        class Late(Exception):
            pass
        def ring(number, frame):
            flag.append(1)
            if WHO == "main": raise Late
        def compute():
            while not flag:
                pass
        flag = []
        signal.signal(signal.SIGALRM, ring)
        thread = threading.Thread(target=compute if WHO == "another" else int)
        thread.start()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            if WHO == "main": compute()
        except Late:
            print("late")
        thread.join()
        print(flag)
        """.replace("WHO", repr(who))
    for plan in (DEFAULT, random_walk(1)):
        run = run_program(tmp_path, text, plan, settings=Settings(granularity=granularity))
        assert output_of(run) == ("late\n[1]\n" if who == "main" else "[1]\n")
        assert_same(run, replayed(run.log))


@pytest.mark.parametrize("ignored", [(), (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)])
def test_what_our_shell_ignores_the_program_does_not(ignored: tuple[int, ...], tmp_path: Path) -> None:
    """As it does for a command in the background: a log would replay only in the other half of all shells."""
    text = """
        import signal, threading
        def look():
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
                if signal.getsignal(number) == signal.SIG_IGN:
                    print(number)
        thread = threading.Thread(target=look)
        thread.start(); thread.join()
        print(signal.getsignal(signal.SIGINT).__name__)
        """
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    try:
        run = run_program(tmp_path, text)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert output_of(run) == "default_int_handler\n"


def test_what_a_program_ignores_its_own_programs_ignore(tmp_path: Path) -> None:
    text = """
        import signal, subprocess, sys, threading
        def start():
            code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
            print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        thread = threading.Thread(target=start)
        thread.start(); thread.join()
        """
    assert output_of(run_program(tmp_path, text)) == "True\n\n"


@pytest.mark.parametrize("accelerator", ["on", "off"])
def test_what_a_handler_does_between_two_instructions_is_seen(
    accelerator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The main thread is interrupted where it could go on: its handler has yield points, and what it changes shows."""
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", accelerator)
    text = """
        import os, signal, threading
        class Box: pass
        def handle(number, frame):
            box.value = 2
        def send():
            os.kill(os.getpid(), signal.SIGUSR1)
        box = Box()
        box.value = 1
        signal.signal(signal.SIGUSR1, handle)
        thread = threading.Thread(target=send)
        thread.start()
        print(box.value)
        thread.join()
        """
    everything = {"": (0, 1 << 62)}
    plain = run_program(tmp_path, text, replace(DEFAULT, observed=everything))
    assert output_of(plain) == "1\n"
    read = next(one for one in plain.accesses.accesses if one.name == "Box.value" and one.does == "reads")
    run = run_program(tmp_path, text, replace(triggered(("0", read.time, "0.1")), observed=everything))
    assert output_of(run) == "2\n"
    seen = [one for one in run.accesses.accesses if one.thread == "0" and one.name == "Box.value"]
    assert [(one.does, one.old.text, one.new.text) for one in seen] == [("stores", "1", "2"), ("reads", "2", "?")]
    assert_same(run, replayed(run.log))


CHILDREN = {
    "an event loop": """
        import asyncio, os, signal, threading
        async def wait():
            event = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, event.set)
            child = fork()
            await event.wait()
            os.waitpid(child, 0)
        start(lambda: None)
        asyncio.run(wait())
        """,
    "an event that the handler sets": """
        import os, signal, threading
        event = threading.Event()
        signal.signal(signal.SIGUSR1, lambda number, frame: event.set())
        start(lambda: None)
        child = fork()
        event.wait()
        os.waitpid(child, 0)
        """,
    "the end of a child": """
        import os, signal, threading
        event = threading.Event()
        signal.signal(signal.SIGCHLD, lambda number, frame: (os.waitpid(-1, 0), event.set()))
        start(lambda: None)
        fork()
        event.wait()
        """,
}
SENDS = """
def start(function):
    import threading
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()
def fork():
    import os, signal
    parent, child = os.getpid(), os.fork()
    if child == 0:
        for _ in range(200_000): pass
        os.kill(parent, signal.SIGUSR1)
        os._exit(0)
    return child
if __name__ == "__main__":
    import signal
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
"""


@pytest.mark.parametrize("waits", CHILDREN)
def test_a_signal_of_a_child_process_ends_what_would_be_a_deadlock(waits: str, tmp_path: Path) -> None:
    run = run_program(tmp_path, SENDS + textwrap.dedent(CHILDREN[waits]) + "print('end')\n")
    assert output_of(run) == "end\n"
    assert replayed(run.log).output == run.output  # when the signal comes is not recorded


def test_a_deadlock_with_a_handler_is_one_if_no_child_runs(tmp_path: Path) -> None:
    text = """
        import signal, threading
        event = threading.Event()
        signal.signal(signal.SIGUSR1, lambda number, frame: event.set())
        thread = threading.Thread(target=event.wait)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text)
    assert signature_of(run.log.ending).text.startswith("deadlock"), run.output

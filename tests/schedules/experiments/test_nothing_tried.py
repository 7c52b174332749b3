"""Failures against which no lock and no order is tried, as what is missing is a look."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.schedules.experiments.test_experiments import tried

IF_WAIT = """\
import threading
class Mailbox:
    def __init__(self):
        self.letters, self.arrived, self.closed = [], threading.Condition(), False
    def post(self, letter):
        with self.arrived:
            self.letters.append(letter)
            self.arrived.notify_all()
    def close(self):
        with self.arrived:
            self.closed = True
            self.arrived.notify_all()
    def take(self):
        with self.arrived:
            if not self.letters and not self.closed: self.arrived.wait()
            if self.closed and not self.letters: return None
            return self.letters.pop(0)
box, errors = Mailbox(), []
def read():
    try:
        while box.take() is not None: pass
    except IndexError as error:
        errors.append(error)
threads = [threading.Thread(target=read) for _ in range(2)]
for thread in threads: thread.start()
for letter in "abc": box.post(letter)
box.close()
for thread in threads: thread.join()
assert not errors, errors
"""
MISSED = """\
import threading
rows, loaded = [], threading.Condition()
def load():
    with loaded:
        rows.append("a row")
        loaded.notify_all()
thread = threading.Thread(target=load)
thread.start()
with loaded:
    loaded.wait()
thread.join()
"""
TIMER = """\
import threading, time
class Session:
    def __init__(self):
        self.expired = False
        self.restart()
    def restart(self):
        self.timer = threading.Timer(0.05, self.expire)
        self.timer.start()
    def touch(self):
        if self.expired: return False
        self.timer.cancel()
        self.restart()
        return True
    def expire(self):
        self.expired = True
session = Session()
time.sleep(0.05)
alive = session.touch()
expired = session.expired
session.timer.cancel(); session.timer.join()
assert not (alive and expired)
"""
FLAG = """\
import queue, threading
class Kitchen:
    def __init__(self):
        self.orders, self.closing, self.cooked = queue.Queue(), False, []
    def cook(self):
        while not self.closing:
            self.cooked.append(self.orders.get())
kitchen = Kitchen()
cook = threading.Thread(target=kitchen.cook)
cook.start()
kitchen.orders.put("soup")
kitchen.closing = True
cook.join()
"""


@pytest.mark.once
@pytest.mark.parametrize(
    ("text", "why_not"),
    [
        (IF_WAIT, "look again after its wait"),
        (TIMER, "timer that has expired"),
        (MISSED, "look at the state before it waits"),
        (FLAG, "ends a wait that has begun"),
    ],
)
def test_nothing_is_tried_where_what_is_missing_is_no_lock(text: str, why_not: str, tmp_path: Path) -> None:
    """A lock over the wait, or over the look at the result, lets it pass, and repairs nothing."""
    found = tried(tmp_path, text)
    assert (found.attempts, found.runs) == ((), 0)
    assert why_not in found.why_not

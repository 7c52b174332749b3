"""Bugs of many kinds that no strategy of the hunt was tuned on; as a program: ``hunted.py KIND STEPS``.

They are written as in ``bugs.py``, which surrounds them with work.
"""

import sys
import threading
from collections import deque

import bugs


class Shared:
    def __init__(self, **values):
        self.lock = threading.Lock()
        self.__dict__.update(values)


# The smallest free number is looked for and taken in two steps.
def take_number(shared):
    number = 0
    while number in shared.used:
        number += 1
    shared.used.add(number)
    shared.given.append(number)


# The window of a rate limiter is begun anew twice.
def ask(shared):
    if shared.now - shared.start >= 10:
        shared.start = shared.now
        shared.count = 0
    if shared.count < 1:
        shared.count += 1
        shared.allowed += 1


# A message comes between the copy of the history and the registration.
def subscribe(shared):
    with shared.lock:
        old = list(shared.history)
    with shared.lock:
        shared.subscribers.append(shared.inbox)
    for message in old:
        shared.inbox.append(message)


def publish(shared):
    for message in ("one", "two"):
        with shared.lock:
            shared.history.append(message)
            for inbox in shared.subscribers:
                inbox.append(message)


# A callback is added while the others are called.
def complete(shared):
    for callback in shared.callbacks:
        shared.called.append(callback)
    shared.done = True


def add_callback(shared):
    if shared.done:
        shared.called.append("callback")
    else:
        shared.callbacks.append("callback")


# What was about to be taken is closed in between.
def acquire(shared):
    if shared.count > 0:
        with shared.lock:
            shared.count += 1
        if not shared.open:
            shared.bad = True


def release(shared):
    with shared.lock:
        shared.count -= 1
        last = shared.count == 0
    if last:
        shared.open = False


# A reader looks at the version before and after, but the writer changes it only once.
def write_versioned(shared):
    shared.version += 1
    shared.one = 2
    shared.other = 2


def read_versioned(shared):
    before = shared.version
    one, other = shared.one, shared.other
    if shared.version == before:
        shared.seen.append((one, other))


# The owner looks at its last task while another one takes it.
def own_tasks(shared):
    for _ in range(2):
        if shared.tasks:
            task = shared.tasks[-1]
            shared.done.append(task)
            if shared.tasks and shared.tasks[-1] == task:
                shared.tasks.pop()


def steal_task(shared):
    with shared.lock:
        if shared.tasks:
            shared.done.append(shared.tasks.pop(0))


# A pool of one connection makes two.
def use_connection(shared):
    try:
        connection = shared.free.popleft()
    except IndexError:
        if shared.made >= 1:
            return
        connection = object()
        shared.made += 1
    shared.free.append(connection)


# Four threads in one order: open, arm, dispose, fire.
def open_it(shared):
    shared.state = "open"


def arm(shared):
    if shared.state == "open":
        shared.armed = True


def dispose(shared):
    shared.state = "closed"


def fire(shared):
    if shared.armed and shared.state == "closed":
        shared.fired.append(1)


# Who does not get the lock goes on without it.
def try_lock(shared):
    got = shared.lock.acquire(blocking=False)
    value = shared.value
    shared.log.append(value)
    shared.value = value + 1
    if got:
        shared.lock.release()


# The mark of what is being computed goes before the result comes.
def compute(shared):
    with shared.lock:
        if "key" in shared.known or "key" in shared.computing:
            return
        shared.computing.add("key")
    with shared.lock:
        shared.computing.discard("key")
    shared.computed.append("key")
    with shared.lock:
        shared.known.add("key")


# What is added while a buffer is sent is dropped with it.
def flush(shared):
    batch = shared.buffer
    for item in batch:
        shared.sent.append(item)
    shared.buffer = []


def add_item(shared):
    shared.buffer.append(4)


# Each writer changes a copy of its own.
def set_key(key):
    def run(shared):
        fresh = dict(shared.settings)
        fresh[key] = 1
        shared.settings = fresh

    return run


# Of four threads that take two locks each, two do so crosswise.
def take_locks(first, second):
    def run(shared):
        for _ in range(2):
            with shared.locks[first]:
                with shared.locks[second]:
                    shared.taken += 1

    return run


# kind: (what the workers share, the workers, what must hold in the end)
KINDS = {
    "number taken twice": (
        lambda: Shared(used=set(), given=[]),
        (take_number, take_number, take_number),
        lambda shared: len(set(shared.given)) == len(shared.given),
    ),
    "rate limiter": (
        lambda: Shared(start=0, count=3, allowed=0, now=10),
        (ask, ask),
        lambda shared: shared.allowed <= 1,
    ),
    "subscription": (
        lambda: Shared(history=[], subscribers=[], inbox=[]),
        (subscribe, publish),
        lambda shared: len(shared.inbox) == len(shared.history),
    ),
    "callback lost": (
        lambda: Shared(done=False, callbacks=[], called=[]),
        (complete, add_callback),
        lambda shared: "callback" in shared.called,
    ),
    "closed when taken": (
        lambda: Shared(count=1, open=True, bad=False),
        (acquire, release),
        lambda shared: not shared.bad,
    ),
    "torn read": (
        lambda: Shared(version=0, one=1, other=1, seen=[]),
        (read_versioned, write_versioned),
        lambda shared: all(one == other for one, other in shared.seen),
    ),
    "task done twice": (
        lambda: Shared(tasks=[1, 2], done=[]),
        (own_tasks, steal_task),
        lambda shared: len(shared.done) == len(set(shared.done)),
    ),
    "pool of one": (
        lambda: Shared(free=deque(), made=0),
        (use_connection, use_connection, use_connection),
        lambda shared: shared.made <= 1,
    ),
    "order of four": (
        lambda: Shared(state="new", armed=False, fired=[]),
        (fire, dispose, arm, open_it),
        lambda shared: not shared.fired,
    ),
    "on without the lock": (
        lambda: Shared(log=[], value=0),
        (try_lock, try_lock),
        lambda shared: shared.value == 2,
    ),
    "computed twice": (
        lambda: Shared(computing=set(), known=set(), computed=[]),
        (compute, compute, compute),
        lambda shared: len(shared.computed) == 1,
    ),
    "item dropped": (
        lambda: Shared(buffer=[1, 2, 3], sent=[]),
        (flush, add_item),
        lambda shared: sorted(shared.sent + shared.buffer) == [1, 2, 3, 4],
    ),
    "copies": (
        lambda: Shared(settings={"one": 0, "other": 0}),
        (set_key("one"), set_key("other")),
        lambda shared: shared.settings == {"one": 1, "other": 1},
    ),
    "two of four deadlock": (
        lambda: Shared(locks=[threading.Lock() for _ in range(4)], taken=0),
        (take_locks(0, 1), take_locks(1, 2), take_locks(2, 1), take_locks(2, 3)),
        lambda shared: True,
    ),
    "no-bug": bugs.KINDS["no-bug"],
}


def run_once(kind, steps):
    bugs.run(KINDS[kind], steps)


if __name__ == "__main__":
    run_once(sys.argv[1], int(sys.argv[2]))

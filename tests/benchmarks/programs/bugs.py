"""Three bugs, each with two workers, written once for all tools; as a program: ``bugs.py KIND STEPS``.

Each worker does STEPS steps of work on an object of its own before and after its part of the bug.
"""

import sys
import threading


class Own:
    def __init__(self):
        self.total = 0
        self.last = 0


def local_work(steps):
    own = Own()
    for number in range(steps):
        own.total += number
        own.last = own.total % 7 + number


class Account:
    def __init__(self):
        self.balance = 0


def deposit(account):
    balance = account.balance
    account.balance = balance + 1


class Pool:
    def __init__(self):
        self.connection = None
        self.opened = 0
        self.lock = threading.Lock()


def connect(pool):
    if pool.connection is None:
        pool.connection = object()
        with pool.lock:
            pool.opened += 1


class Shelf:
    def __init__(self):
        self.one = threading.Lock()
        self.two = threading.Lock()
        self.moved = 0


def move_there(shelf):
    with shelf.one:
        with shelf.two:
            shelf.moved += 1


def move_back(shelf):
    with shelf.two:
        with shelf.one:
            shelf.moved += 1


# kind: (what the workers share, the workers, what must hold in the end)
KINDS = {
    "lost-update": (Account, (deposit, deposit), lambda account: account.balance == 2),
    "check-then-act": (Pool, (connect, connect), lambda pool: pool.opened == 1),
    "deadlock": (Shelf, (move_there, move_back), lambda shelf: shelf.moved == 2),
    "no-bug": (Own, (lambda own: None, lambda own: None), lambda own: True),
}


def surrounded(worker, steps):
    """The worker with work around it."""

    def run(shared):
        local_work(steps)
        worker(shared)
        local_work(steps)

    return run


def run_once(kind, steps):
    run(KINDS[kind], steps)


def run(bug, steps):
    make, workers, holds = bug
    shared = make()
    threads = [threading.Thread(target=surrounded(worker, steps), args=(shared,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared)


if __name__ == "__main__":
    run_once(sys.argv[1], int(sys.argv[2]))

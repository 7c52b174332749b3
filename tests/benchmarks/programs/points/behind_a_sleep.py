"""A move between two accounts that an auditor sees half of, and then the rest; its pause lets the audit end before."""

import threading
import time


class Move:
    def __init__(self):
        self.stage = "asked"
        self.seen = []
        self.steps = 0

    def make(self):
        time.sleep(0.001)
        for _ in range(10):
            self.steps += 1
        self.stage = "taken"
        self.stage = "given"

    def audit(self):
        own = []
        for number in range(10):
            own.append(number)
        self.seen.append(self.stage)
        own.reverse()
        self.seen.append(self.stage)


def make():
    return Move()


def move(shared):
    shared.make()


def audit(shared):
    shared.audit()


WORKERS = (move, audit)


def holds(shared):
    return shared.seen != ["taken", "given"]


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), shared.seen


if __name__ == "__main__":
    main()

"""Prices that many read at once and one changes, with changes going first."""

import threading
from contextlib import contextmanager


class ReadWriteLock:
    def __init__(self):
        self.changed = threading.Condition()
        self.readers = 0
        self.writing = False
        self.writers = 0

    @contextmanager
    def read(self):
        with self.changed:
            while self.writing or self.writers:
                self.changed.wait()
            self.readers += 1
        yield
        with self.changed:
            self.readers -= 1
            self.changed.notify_all()

    @contextmanager
    def write(self):
        with self.changed:
            self.writers += 1
            while self.writing or self.readers:
                self.changed.wait()
            self.writers -= 1
            self.writing = True
        yield
        with self.changed:
            self.writing = False
            self.changed.notify_all()


class Prices:
    def __init__(self):
        self.lock = ReadWriteLock()
        self.of = {"tea": 2, "cake": 4}
        self.sums = []

    def get(self, item):
        with self.lock.read():
            return self.of[item]


def make():
    return Prices()


def bill(prices):
    with prices.lock.read():
        prices.sums.append(sum(prices.get(item) for item in ("tea", "cake")))


def raise_tea(prices):
    with prices.lock.write():
        prices.of["tea"] += 1


WORKERS = (bill, raise_tea, bill)


def holds(prices):
    return len(prices.sums) == 2


def tell(prices):
    return f"sums {prices.sums}"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

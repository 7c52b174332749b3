"""Two threads that work on objects of their own for a long time, and then both add to one total without a lock."""

import threading

ROUNDS = 20_000


class Meter:
    def __init__(self):
        self.total = 0


class Own:
    def __init__(self):
        self.count = 0

    def work(self):
        for _ in range(ROUNDS):
            self.count += 1


def make():
    return Meter()


def measure(meter):
    own = Own()
    own.work()
    meter.total += 1
    own.work()


WORKERS = (measure, measure)


def holds(meter):
    return meter.total == 2


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), shared.total


if __name__ == "__main__":
    main()

"""A mean is made of a sum and a count that are updated one after the other, under a lock; the reader takes none."""

import threading


class Stats:
    lock = threading.RLock()

    def __init__(self):
        self.sum = 0
        self.count = 0

    def add(self, value):
        with self.lock:
            self.sum += value
            self.note(value)
            self.count += 1

    def note(self, value):
        pass

    def mean(self):
        return self.sum / self.count if self.count else None


def writer(stats):
    for _ in range(2):
        stats.add(10)


def reader(stats, seen):
    seen.append(stats.mean())


def main():
    stats, seen = Stats(), []
    threads = [threading.Thread(target=writer, args=(stats,)), threading.Thread(target=reader, args=(stats, seen))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen[0] in (None, 10), seen


main()

"""Goods are moved between shelves; each shelf has a lock of its own."""

import contextlib
import threading


class Shelf:
    def __init__(self, name, count):
        self.name = name
        self.count = count
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def locked(self):
        self._lock.acquire()
        try:
            yield self
        finally:
            self._lock.release()


def move(source, target, count):
    with source.locked():
        taken = min(count, source.count)
        source.count -= taken
        with target.locked():
            target.count += taken


def main():
    left, middle, right = Shelf("left", 5), Shelf("middle", 5), Shelf("right", 5)
    moves = [(left, middle, 1), (middle, right, 2), (right, left, 3)]
    threads = [threading.Thread(target=move, args=one) for one in moves]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = left.count + middle.count + right.count
    assert total == 15, total


if __name__ == "__main__":
    main()

"""A consumer that stops when it finds nothing to do and the producer done."""

import threading
from collections import deque


class Line:
    def __init__(self):
        self.parcels = deque()
        self.more = threading.Event()
        self.done = False
        self.loaded = []

    def produce(self, names):
        for name in names:
            self.parcels.append(name)
            self.more.set()
        self.done = True
        self.more.set()

    def consume(self):
        while True:
            if self.parcels:
                self.loaded.append(self.parcels.popleft())
            elif self.done:
                return
            else:
                self.more.wait()
                self.more.clear()


def make():
    return Line()


def produce(line):
    line.produce(["lamp", "table", "chair"])


def consume(line):
    line.consume()


WORKERS = (produce, consume)


def holds(line):
    return line.loaded == ["lamp", "table", "chair"]


def tell(line):
    return f"loaded {line.loaded}"


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

"""Producers that hand over in batches; the last one to finish tells the consumer."""

import queue
import threading


class Feed:
    def __init__(self, producers):
        self.queue = queue.Queue()
        self.lock = threading.Lock()
        self.open = producers
        self.seen = []

    def produce(self, numbers):
        batch = []
        for number in numbers:
            batch.append(number)
            if len(batch) == 3:
                self.queue.put(batch)
                batch = []
        with self.lock:
            self.open -= 1
            last = self.open == 0
        if batch:
            self.queue.put(batch)
        if last:
            self.queue.put(None)

    def consume(self):
        while True:
            batch = self.queue.get()
            if batch is None:
                return
            self.seen.extend(batch)


def make():
    return Feed(2)


def low(feed):
    feed.produce(range(5))


def high(feed):
    feed.produce(range(10, 14))


def read(feed):
    feed.consume()


WORKERS = (low, high, read)


def holds(feed):
    return len(feed.seen) == 9


def tell(feed):
    return f"seen {sorted(feed.seen)}"


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

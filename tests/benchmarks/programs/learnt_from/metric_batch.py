"""Measurements sent in batches, as soon as five of them wait."""

import threading
from concurrent.futures import ThreadPoolExecutor

SIZE = 5


class Metrics:
    def __init__(self):
        self.lock = threading.Lock()
        self.waiting = []
        self.sent = []

    def add(self, name, value):
        with self.lock:
            self.waiting.append((name, value))
            full = len(self.waiting) >= SIZE
        if full:
            self.flush()

    def flush(self):
        batch = self.waiting[:SIZE]
        with self.lock:
            self.sent.extend(batch)
        with self.lock:
            del self.waiting[:SIZE]


def make():
    return Metrics()


def measure(name):
    def run(metrics):
        for value in range(3):
            metrics.add(name, value)

    return run


WORKERS = (measure("cpu"), measure("disk"), measure("net"), measure("heat"))


def holds(metrics):
    known = metrics.sent + metrics.waiting
    return len(known) == len(set(known)) == 12


def tell(metrics):
    return f"sent {metrics.sent}, waiting {metrics.waiting}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

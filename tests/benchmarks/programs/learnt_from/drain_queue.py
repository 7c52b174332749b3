"""Download jobs in a queue, taken by several threads until none is left; a job that failed goes back once."""

import queue
from concurrent.futures import ThreadPoolExecutor

SIZES = {"a.iso": 5, "b.iso": 3, "c.iso": 8, "d.iso": 2, "e.iso": 6, "f.iso": 1}
FLAKY = ("c.iso",)


class Downloads:
    def __init__(self):
        self.jobs = queue.Queue()
        self.tried = set()
        self.done = {}
        for name in SIZES:
            self.jobs.put(name)

    def fetch(self, name):
        if name in FLAKY and name not in self.tried:
            self.tried.add(name)
            raise ConnectionError(name)
        return SIZES[name] * 1024

    def work(self):
        while not self.jobs.empty():
            name = self.jobs.get()
            try:
                self.done[name] = self.fetch(name)
            except ConnectionError:
                self.jobs.put(name)


def make():
    return Downloads()


def worker(downloads):
    downloads.work()


WORKERS = (worker,) * 5


def holds(downloads):
    return set(downloads.done) == set(SIZES)


def tell(downloads):
    return f"done {downloads.done}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

"""A hash table with one lock for each of two stripes; it grows when it is too full."""

import threading
from contextlib import ExitStack

STRIPES = 2


class Table:
    def __init__(self):
        self.locks = [threading.Lock() for _ in range(STRIPES)]
        self.buckets = [{} for _ in range(2)]

    def place(self, key):
        return key % len(self.buckets)

    def put(self, key, value):
        place = self.place(key)
        with self.locks[key % STRIPES]:
            bucket = self.buckets[place]
            bucket[key] = value
            full = len(bucket) > 2
        if full:
            self.grow()

    def get(self, key):
        with self.locks[key % STRIPES]:
            return self.buckets[self.place(key)].get(key)

    def grow(self):
        with ExitStack() as stack:
            for lock in self.locks:
                stack.enter_context(lock)
            entries = [entry for bucket in self.buckets for entry in bucket.items()]
            self.buckets = [{} for _ in range(2 * len(self.buckets))]
            for key, value in entries:
                self.buckets[self.place(key)][key] = value


STOCK = {2: "nut", 4: "bolt", 5: "nail", 7: "hook", 8: "ring", 11: "pin", 14: "cap"}


def make():
    return Table()


def filler(*keys):
    def run(table):
        for key in keys:
            table.put(key, STOCK[key])

    return run


WORKERS = (filler(2, 4, 8), filler(5, 7), filler(11, 14))


def holds(table):
    return all(table.get(key) == value for key, value in STOCK.items())


def tell(table):
    return f"buckets {table.buckets}"


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

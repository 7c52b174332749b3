"""A basket changed without a lock: whoever comes too late tries again."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Cell:
    def __init__(self, value):
        self.lock = threading.Lock()
        self.value = value
        self.changes = 0

    def compare_and_set(self, expected, value):
        if self.value is not expected:
            return False
        with self.lock:
            self.value = value
            self.changes += 1
        return True


class Basket:
    def __init__(self):
        self.items = Cell(())
        self.retries = 0

    def add(self, item):
        while True:
            old = self.items.value
            if self.items.compare_and_set(old, (*old, item)):
                return
            self.retries += 1


def make():
    return Basket()


def put_in(*items):
    def run(basket):
        for item in items:
            basket.add(item)

    return run


WORKERS = (put_in("apple", "bread"), put_in("milk", "salt"), put_in("rice"))


def holds(basket):
    return len(basket.items.value) == basket.items.changes == 5


def tell(basket):
    return f"items {basket.items.value} after {basket.items.changes} changes"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

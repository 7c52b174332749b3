"""Parcels on a shelf: couriers wait for the next one."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Shelf:
    def __init__(self):
        self.changed = threading.Condition()
        self.parcels = []
        self.delivered = []

    def put(self, parcel):
        with self.changed:
            self.parcels.append(parcel)
            self.changed.notify()

    def take(self):
        with self.changed:
            if not self.parcels:
                self.changed.wait()
            return self.parcels.pop(0)


def label(street, number):
    return f"{number} {street}"


def make():
    return Shelf()


def courier(shelf):
    for _ in range(2):
        parcel = shelf.take()
        shelf.delivered.append(parcel)


def clerk(shelf):
    for number in range(1, 5):
        shelf.put(label("Mill Lane", number))


WORKERS = (courier, clerk, courier)


def holds(shelf):
    return len(shelf.delivered) == 4


def tell(shelf):
    return f"delivered {shelf.delivered}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

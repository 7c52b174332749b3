"""A database with one connection; whoever finds it taken gets it handed over."""

import threading
from collections import deque


class Place:
    def __init__(self):
        self.ready = threading.Event()
        self.connection = None


class Pool:
    def __init__(self):
        self.lock = threading.Lock()
        self.idle = ["connection"]
        self.waiting = deque()
        self.rows = []

    def acquire(self):
        with self.lock:
            if self.idle:
                return self.idle.pop()
        place = Place()
        with self.lock:
            self.waiting.append(place)
        place.ready.wait()
        return place.connection

    def release(self, connection):
        with self.lock:
            if self.waiting:
                place = self.waiting.popleft()
                place.connection = connection
                place.ready.set()
            else:
                self.idle.append(connection)

    def query(self, text):
        connection = self.acquire()
        try:
            self.rows.append((connection, text))
        finally:
            self.release(connection)


def make():
    return Pool()


def client(name):
    def run(pool):
        for number in range(2):
            pool.query(f"{name} {number}")

    return run


WORKERS = (client("select"), client("insert"), client("delete"))


def holds(pool):
    return len(pool.rows) == 6


def tell(pool):
    return f"rows {pool.rows}"


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

"""A lazily made pool: double-checked, but published before it is filled."""

import threading


class Pool:
    _instance = None
    _lock = threading.Lock()

    @classmethod
    def get(cls):
        if cls._instance is None:
            with cls._lock:
                if cls._instance is None:
                    cls._instance = Pool()
                    cls._instance.fill(3)
        return cls._instance

    def __init__(self):
        self.free = []

    def fill(self, count):
        for number in range(count):
            self.free.append(f"connection {number}")


def use(used):
    pool = Pool.get()
    used.append(pool.free[0])


def main():
    used = []
    threads = [threading.Thread(target=use, args=(used,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(used) == 3, used


main()

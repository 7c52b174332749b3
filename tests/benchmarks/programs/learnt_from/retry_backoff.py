"""An optimistic update that tries again after a short pause."""

import threading
import time


class Record:
    def __init__(self):
        self.version = 0
        self.value = 0


class Store:
    def __init__(self):
        self.record = Record()
        self.lock = threading.Lock()

    def read(self):
        with self.lock:
            return self.record.version, self.record.value

    def write(self, version, value):
        if self.record.version != version:
            return False
        with self.lock:
            self.record.version = version + 1
            self.record.value = value
        return True

    def update(self, change):
        for attempt in range(5):
            version, value = self.read()
            if self.write(version, change(value)):
                return
            time.sleep(0.001 * 2**attempt)
        raise RuntimeError("gave up")


def make():
    return Store()


def deposit(store):
    for _ in range(2):
        store.update(lambda value: value + 10)
        time.sleep(0.001)


WORKERS = (deposit, deposit)


def holds(store):
    return store.record.value == 40


def tell(store):
    return f"value {store.record.value} after 4 deposits"


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

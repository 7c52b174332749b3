"""Uploads counted against a quota before they are stored and after."""

import threading


class Disk:
    def __init__(self, quota):
        self.quota = quota
        self.files = {}
        self.lock = threading.Lock()

    def used(self):
        with self.lock:
            return sum(len(data) for data in self.files.values())

    def digest(self, data):
        value = 7
        for byte in data:
            value = (value * 33 + byte) % 2**32
        return value

    def store(self, name, data):
        if self.used() + len(data) > self.quota:
            return None
        mark = self.digest(data)
        with self.lock:
            self.files[f"{name}-{mark}"] = data
        return mark


def make():
    return Disk(100)


def upload(name, size):
    def run(disk):
        disk.store(name, bytes(range(size)))

    return run


WORKERS = (upload("a", 45), upload("b", 45), upload("c", 45), upload("d", 5))


def holds(disk):
    return disk.used() <= disk.quota


def tell(disk):
    return f"{disk.used()} of {disk.quota} used"


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

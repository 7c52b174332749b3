"""A recorder that keeps the last eight events, and a dump of them."""

import threading

KEPT = 8


class Recorder:
    def __init__(self):
        self.lock = threading.Lock()
        self.slots = [None] * KEPT
        self.count = 0
        self.dumps = []

    def record(self, text):
        with self.lock:
            self.slots[self.count % KEPT] = (self.count, text)
            self.count += 1

    def dump(self):
        with self.lock:
            end = self.count
        events = []
        for number in range(max(0, end - KEPT), end):
            with self.lock:
                events.append(self.slots[number % KEPT])
        self.dumps.append(events)


def make():
    return Recorder()


def fly(recorder):
    for number in range(24):
        recorder.record(f"height {number * 100}")


def inspect(recorder):
    recorder.dump()


WORKERS = (fly, inspect)


def holds(recorder):
    for events in recorder.dumps:
        numbers = [number for number, _ in events]
        if numbers != sorted(numbers):
            return False
    return len(recorder.dumps) == 1


def tell(recorder):
    return f"dumps {recorder.dumps}"


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

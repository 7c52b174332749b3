"""The last 32 samples of three sensors, in a list that is filled from the start again."""

import threading

SIZE = 32


class Samples:
    def __init__(self):
        self.lock = threading.Lock()
        self.slots = [None] * SIZE
        self.position = 0
        self.finished = []

    def add(self, sample):
        with self.lock:
            self.slots[self.position] = sample
            self.position += 1
        if self.position == SIZE:
            self.rewind()

    def rewind(self):
        with self.lock:
            self.position = 0


def make():
    return Samples()


def sensor(name):
    def run(samples):
        for number in range(12):
            samples.add((name, number))
        samples.finished.append(name)

    return run


WORKERS = (sensor("heat"), sensor("light"), sensor("sound"))


def holds(samples):
    return len(samples.finished) == 3


def tell(samples):
    return f"finished {samples.finished}, position {samples.position}"


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

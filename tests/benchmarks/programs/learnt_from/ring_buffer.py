"""A ring of measurements, into which two sensors write."""

import threading


class Ring:
    def __init__(self, size):
        self.slots = [None] * size
        self.head = 0
        self.overwritten = 0

    def put(self, value):
        place = self.head % len(self.slots)
        if self.slots[place] is not None:
            self.overwritten += 1
        self.slots[place] = value
        self.head += 1


def smooth(samples):
    level = samples[0]
    for sample in samples:
        level = (3 * level + sample) // 4
    return level


def make():
    return Ring(8)


def sensor(first, second):
    def run(ring):
        ring.put(smooth(first))
        ring.put(smooth(second))
        smooth(first + second)

    return run


WORKERS = (sensor([10, 12, 11], [14, 13, 15]), sensor([70, 72, 75], [80, 83, 81]))


def holds(ring):
    return ring.head == 4 and ring.slots.count(None) == 4


def tell(ring):
    return f"head {ring.head}, slots {ring.slots}"


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

"""Order numbers taken from a block that is fetched anew when it is used up."""

import threading


class Sequence:
    def __init__(self):
        self.value = 100

    def next_block(self, size):
        start = self.value
        self.value += size
        return start, start + size


class Numbers:
    def __init__(self):
        self.sequence = Sequence()
        self.lock = threading.Lock()
        self.low, self.high = self.sequence.next_block(4)
        self.given = []

    def refill(self):
        low, high = self.sequence.next_block(4)
        with self.lock:
            self.low = low
            self.high = high

    def take(self):
        if self.low == self.high:
            self.refill()
        with self.lock:
            number = self.low
            self.low += 1
            self.given.append(number)
            return number


def make():
    return Numbers()


def order(numbers):
    for _ in range(3):
        numbers.take()


WORKERS = (order, order)


def holds(numbers):
    return sorted(numbers.given) == [100, 101, 102, 103, 104, 105]


def tell(numbers):
    return f"given {numbers.given}"


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

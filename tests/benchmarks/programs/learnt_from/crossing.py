"""Four cars at a crossing, each of which takes the quarter before it and then the next."""

import threading


class Crossing:
    def __init__(self):
        self.quarters = [threading.Lock() for _ in range(4)]
        self.passed = []

    def drive(self, number):
        first, second = self.quarters[number], self.quarters[(number + 1) % 4]
        with first:
            with second:
                self.passed.append(number)


def make():
    return Crossing()


def car(number):
    def run(crossing):
        crossing.drive(number)

    return run


WORKERS = (car(0), car(1), car(2), car(3))


def holds(crossing):
    return len(crossing.passed) == 4


def tell(crossing):
    return f"passed {crossing.passed}"


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

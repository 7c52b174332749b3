"""Readings of thermometers: threads add what they measured, a display shows mean and number."""

import threading


class Statistics:
    def __init__(self, first):
        self.lock = threading.Lock()
        self.total = first
        self.count = 1

    def add(self, value):
        with self.lock:
            self.total += value
            self.count += 1

    def sum_so_far(self):
        with self.lock:
            return self.total

    def number_so_far(self):
        with self.lock:
            return self.count

    def mean(self):
        total = self.sum_so_far()
        count = self.number_so_far()
        return total / count


class Display:
    def __init__(self, statistics):
        self.statistics = statistics
        self.shown = []

    def refresh(self):
        self.shown.append(self.statistics.mean())


class House:
    def __init__(self):
        self.statistics = Statistics(20)
        self.display = Display(self.statistics)


def make():
    return House()


def thermometer(*values):
    def run(house):
        for value in values:
            house.statistics.add(value)

    return run


def watcher(house):
    for _ in range(2):
        house.display.refresh()


WORKERS = (thermometer(19, 21), watcher, thermometer(22, 20, 18))


def holds(house):
    shown = house.display.shown
    return len(shown) == 2 and all(19 <= mean <= 21 for mean in shown)


def tell(house):
    return f"shown {house.display.shown}"


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

"""Cooks and waiters share a counter with room for one plate."""

import threading


class Counter:
    def __init__(self):
        self.plate = None
        self.changed = threading.Condition()

    def put(self, dish):
        with self.changed:
            while self.plate is not None:
                self.changed.wait()
            self.plate = dish
            self.changed.notify()

    def take(self):
        with self.changed:
            while self.plate is None:
                self.changed.wait()
            dish, self.plate = self.plate, None
            self.changed.notify()
            return dish


def cook(counter, dishes):
    for dish in dishes:
        counter.put(dish)


def wait(counter, count, served):
    for _ in range(count):
        served.append(counter.take())


def main():
    counter, served = Counter(), []
    threads = [threading.Thread(target=cook, args=(counter, [name])) for name in ("soup", "fish")]
    threads += [threading.Thread(target=wait, args=(counter, 1, served)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(served) == ["fish", "soup"]


main()

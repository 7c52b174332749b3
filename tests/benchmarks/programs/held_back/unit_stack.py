"""Lengths are written in the unit of the innermost `with units(...)`."""

import threading
from contextlib import contextmanager

PER_METRE = {"m": 1, "cm": 100, "mm": 1000}


class Stack:
    def __init__(self):
        self.names = ["m"]

    def current(self):
        return self.names[-1]


class Drawing:
    def __init__(self):
        self.stack = Stack()
        self.lock = threading.Lock()
        self.labels = []

    @contextmanager
    def units(self, name):
        self.stack.names.append(name)
        try:
            yield
        finally:
            self.stack.names.pop()

    def label(self, metres):
        unit = self.stack.current()
        text = f"{metres * PER_METRE[unit]} {unit}"
        with self.lock:
            self.labels.append(text)


def make():
    return Drawing()


def part(unit, *lengths):
    def run(drawing):
        with drawing.units(unit):
            for metres in lengths:
                drawing.label(metres)

    return run


WORKERS = (part("cm", 2), part("mm", 3))


def holds(drawing):
    return sorted(drawing.labels) == ["200 cm", "3000 mm"]


def tell(drawing):
    return f"labels {drawing.labels}, stack {drawing.stack.names}"


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

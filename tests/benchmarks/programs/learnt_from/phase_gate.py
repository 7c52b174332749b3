"""A simulation in phases: nobody begins a phase before all have ended the one before."""

import threading

PARTIES = 3
PHASES = 2


class Gate:
    def __init__(self, parties):
        self.parties = parties
        self.arrived = 0
        self.lock = threading.Lock()
        self.opened = threading.Event()

    def pass_through(self):
        with self.lock:
            self.arrived += 1
            last = self.arrived == self.parties
            if last:
                self.arrived = 0
        if last:
            self.opened.set()
            self.opened.clear()
        else:
            self.opened.wait()


class Grid:
    def __init__(self):
        self.gate = Gate(PARTIES)
        self.cells = [8, 0, 4]
        self.history = []

    def neighbours(self, index):
        return self.cells[index - 1] + self.cells[(index + 1) % len(self.cells)]

    def advance(self, index):
        for _ in range(PHASES):
            value = self.neighbours(index) // 2
            self.gate.pass_through()
            self.cells[index] = value
            self.gate.pass_through()
        self.history.append((index, self.cells[index]))


def make():
    return Grid()


def part(index):
    def run(grid):
        grid.advance(index)

    return run


WORKERS = tuple(part(index) for index in range(PARTIES))


def holds(grid):
    return sorted(grid.history) == [(0, 5), (1, 3), (2, 4)]


def tell(grid):
    return f"history {grid.history}"


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

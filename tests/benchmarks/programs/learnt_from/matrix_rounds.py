"""A value spreads over a row of cells, in rounds that all threads do together."""

import threading

ROUNDS = 3


class Row:
    def __init__(self, *cells):
        self.cells = list(cells)
        self.next = list(cells)

    def step(self, places):
        last = len(self.cells) - 1
        for place in places:
            left = self.cells[max(place - 1, 0)]
            right = self.cells[min(place + 1, last)]
            self.next[place] = (left + right) // 2

    def swap(self):
        self.cells, self.next = self.next, self.cells


class Simulation:
    def __init__(self, parties):
        self.row = Row(96, 0, 0, 48, 0, 12)
        self.barrier = threading.Barrier(parties)
        self.last = parties - 1
        self.round = 0
        self.finished = []

    def run(self, places):
        while self.round < ROUNDS:
            self.row.step(places)
            if self.barrier.wait() == self.last:
                self.row.swap()
                self.round += 1
        self.finished.append(places)


def make():
    return Simulation(2)


def part(*places):
    def run(simulation):
        simulation.run(places)

    return run


WORKERS = (part(0, 1, 2), part(3, 4, 5))


def expected():
    row = Row(96, 0, 0, 48, 0, 12)
    for _ in range(ROUNDS):
        row.step(range(6))
        row.swap()
    return row.cells


EXPECTED = expected()


def holds(simulation):
    return len(simulation.finished) == 2 and simulation.row.cells == EXPECTED


def tell(simulation):
    return f"cells {simulation.row.cells} instead of {EXPECTED}, rounds {simulation.round}"


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

"""Threads compute the heat of a rod in steps and meet at a barrier, but nobody waits for the one that then swaps."""

import threading

STEPS = 2


class Rod:
    def __init__(self, cells, workers):
        self.cells = list(cells)
        self.next = list(cells)
        self.workers = workers
        self.barrier = threading.Barrier(workers)

    def part(self, number):
        size = len(self.cells) // self.workers
        return range(number * size, (number + 1) * size)

    def neighbours(self, index):
        left = self.cells[index - 1] if index else self.cells[index]
        right = self.cells[index + 1] if index + 1 < len(self.cells) else self.cells[index]
        return left + right

    def work(self, number):
        for _ in range(STEPS):
            for index in self.part(number):
                self.next[index] = (2 * self.cells[index] + self.neighbours(index)) // 4
            leader = self.barrier.wait(timeout=10) == 0
            if leader:
                self.cells, self.next = self.next, list(self.next)


def simulate(cells, workers):
    rod = Rod(cells, workers)
    threads = [threading.Thread(target=rod.work, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return rod.cells


def main():
    cells = [80, 0, 40, 0]
    alone = simulate(cells, 1)
    together = simulate(cells, 2)
    assert together == alone, f"{together} instead of {alone}"


if __name__ == "__main__":
    main()

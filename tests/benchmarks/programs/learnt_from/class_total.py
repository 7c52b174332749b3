"""Counters with a lock each, that also add to what they all share."""

import threading


class Counter:
    def __init__(self, board):
        self.lock = threading.Lock()
        self.board = board
        self.own = 0

    def add(self, amount):
        with self.lock:
            self.own += amount
            self.board.total = self.board.clipped(self.board.total + amount)


class Board:
    def __init__(self):
        self.total = 0
        self.counters = [Counter(self) for _ in range(3)]

    def clipped(self, amount):
        return min(amount, 10**6)


def make():
    return Board()


def gate(number):
    def run(board):
        for amount in (1, 2, 3):
            board.counters[number].add(amount)

    return run


WORKERS = (gate(0), gate(1), gate(2))


def holds(board):
    return board.total == sum(counter.own for counter in board.counters)


def tell(board):
    return f"total {board.total}, counters {[counter.own for counter in board.counters]}"


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

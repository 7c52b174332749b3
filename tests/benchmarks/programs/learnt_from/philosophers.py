"""Three philosophers, each of whom takes the left fork first."""

import threading


class Table:
    def __init__(self, seats):
        self.forks = [threading.Lock() for _ in range(seats)]
        self.eaten = [0] * seats

    def dine(self, seat):
        left = self.forks[seat]
        right = self.forks[(seat + 1) % len(self.forks)]
        for _ in range(2):
            with left:
                with right:
                    self.eaten[seat] += 1


def make():
    return Table(3)


def first(table):
    table.dine(0)


def second(table):
    table.dine(1)


def third(table):
    table.dine(2)


WORKERS = (first, second, third)


def holds(table):
    return table.eaten == [2, 2, 2]


def tell(table):
    return f"eaten {table.eaten}"


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

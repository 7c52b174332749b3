"""A stock that is ordered anew when it has fallen to five pieces."""

import threading

REORDER_AT = 5


class Stock:
    def __init__(self):
        self.lock = threading.Lock()
        self.left = 15
        self.sold = []
        self.orders = []

    def sell(self, till):
        with self.lock:
            if self.left == 0:
                return
            self.left -= 1
        self.sold.append(till)
        if self.left == REORDER_AT:
            self.orders.append(f"10 pieces, ordered by {till}")


def make():
    return Stock()


def till(name):
    def run(stock):
        for _ in range(3):
            stock.sell(name)

    return run


WORKERS = (till("one"), till("two"), till("three"), till("four"))


def holds(stock):
    return len(stock.orders) == 1


def tell(stock):
    return f"left {stock.left}, orders {stock.orders}"


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

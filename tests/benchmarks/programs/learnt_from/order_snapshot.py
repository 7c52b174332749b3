"""Orders of a day, copied only if someone still looks at the list that is to be changed."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Orders:
    def __init__(self, *orders):
        self.orders = list(orders)
        self.shared = False
        self.lock = threading.Lock()

    def snapshot(self):
        """The orders as they are now; the list handed out is never changed."""
        with self.lock:
            self.shared = True
            return self.orders

    def own(self):
        """The list to change: a copy, if the present one was handed out."""
        with self.lock:
            if self.shared:
                self.orders = list(self.orders)
                self.shared = False
            return self.orders

    def add(self, customer, cents):
        orders = self.own()
        orders.append((customer, cents))


class Shop:
    def __init__(self):
        self.orders = Orders(("ivy", 500), ("max", 250))
        self.reports = []

    def report(self):
        orders = self.orders.snapshot()
        total = sum(cents for _, cents in orders)
        lines = [f"{customer} {cents}" for customer, cents in orders]
        self.reports.append((total, lines))


def make():
    return Shop()


def bookkeeper(shop):
    shop.report()


def clerk(shop):
    shop.orders.add("joe", 120)
    shop.orders.add("amy", 80)


WORKERS = (bookkeeper, clerk)


def agree(total, lines):
    return total == sum(int(line.split()[1]) for line in lines)


def holds(shop):
    return len(shop.reports) == 1 and all(agree(*report) for report in shop.reports) and len(shop.orders.orders) == 4


def tell(shop):
    return f"reports {shop.reports}, orders {shop.orders.orders}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

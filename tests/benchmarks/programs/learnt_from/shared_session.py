"""Orders written through a session that collects rows and writes them at the commit, or forgets them."""

import threading
from concurrent.futures import ThreadPoolExecutor

PRICES = {"tea": 4, "jam": 6, "oats": 3}


class Session:
    def __init__(self):
        self.lock = threading.Lock()
        self.new = []
        self.rows = []

    def add(self, row):
        with self.lock:
            self.new.append(row)

    def commit(self):
        with self.lock:
            self.rows += self.new
            self.new = []

    def rollback(self):
        with self.lock:
            self.new = []


class Shop:
    def __init__(self):
        self.session = Session()

    def order(self, number, **items):
        try:
            self.session.add(("order", number, len(items)))
            for item, count in items.items():
                self.session.add(("item", number, count * PRICES[item]))
        except KeyError:
            self.session.rollback()
        else:
            self.session.commit()

    def complete(self):
        counts = {}
        for kind, number, value in self.session.rows:
            if kind == "order":
                counts[number] = counts.get(number, 0) + value
            else:
                counts[number] = counts.get(number, 0) - 1
        return counts


def make():
    return Shop()


def first(shop):
    shop.order(1, tea=2, oats=1)


def second(shop):
    shop.order(2, jam=1, figs=3)
    shop.order(3, jam=1)


def third(shop):
    shop.order(4, oats=5)


WORKERS = (first, second, third)


def holds(shop):
    return shop.complete() == {1: 0, 3: 0, 4: 0}


def tell(shop):
    return f"rows {shop.session.rows}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

"""A shop whose customers, orders and stock are locked one by one."""

import threading


class Shop:
    def __init__(self):
        self.customers = threading.Lock()
        self.orders = threading.Lock()
        self.stock = threading.Lock()
        self.spent = {"ann": 0, "bob": 0}
        self.open = []
        self.left = {"pen": 9, "lamp": 1, "desk": 5}
        self.told = []

    def order(self, name, item):
        with self.customers:
            self.spent[name] += 10
            with self.orders:
                self.open.append((name, item))

    def pick(self, item):
        with self.orders:
            wanted = [entry for entry in self.open if entry[1] == item]
            if wanted:
                with self.stock:
                    self.left[item] -= 1

    def count(self, item):
        with self.stock:
            if self.left[item] < 2:
                with self.customers:
                    self.told.extend((name, item) for name in self.spent)


def make():
    shop = Shop()
    shop.open.append(("bob", "desk"))
    return shop


def sell(shop):
    shop.order("ann", "pen")
    shop.order("bob", "pen")
    shop.order("ann", "desk")


def pack(shop):
    for item in ("chair", "pen", "desk"):
        shop.pick(item)


def take_stock(shop):
    for item in ("pen", "desk", "lamp"):
        shop.count(item)


WORKERS = (sell, pack, take_stock)


def holds(shop):
    return len(shop.open) == 4 and len(shop.told) == 2


def tell(shop):
    return f"open {shop.open}, told {shop.told}"


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

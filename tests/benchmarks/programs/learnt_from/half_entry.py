"""A catalogue that shows an entry before its fields are filled in."""

import threading


class Catalogue:
    def __init__(self):
        self.entries = {}
        self.lock = threading.Lock()

    def add(self, name, **fields):
        entry = {}
        with self.lock:
            self.entries[name] = entry
        for field, value in fields.items():
            entry[field] = value

    def price_of(self, name):
        with self.lock:
            entry = self.entries.get(name)
        if entry is None:
            return 0
        return entry["price"]


class Shop:
    def __init__(self):
        self.catalogue = Catalogue()
        self.sums = []


def make():
    return Shop()


def fill(shop):
    shop.catalogue.add("lamp", colour="red", price=20)
    shop.catalogue.add("sofa", colour="blue", price=300)


def add_up(shop):
    shop.sums.append(sum(shop.catalogue.price_of(name) for name in ("lamp", "sofa")))


WORKERS = (fill, add_up)


def holds(shop):
    return len(shop.sums) == 1


def tell(shop):
    return f"sums {shop.sums}"


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

"""Numbers for orders, from one generator for all threads."""

import threading


def numbers(prefix):
    number = 0
    while True:
        number += 1
        yield f"{prefix}-{number:03}"


class Shop:
    def __init__(self):
        self.numbers = numbers("order")
        self.orders = []
        self.failures = []

    def order(self, item):
        try:
            self.orders.append((next(self.numbers), item))
        except ValueError as error:
            self.failures.append(error)


def make():
    return Shop()


def buy(shop):
    for item in ("tea", "milk"):
        shop.order(item)


WORKERS = (buy, buy)


def holds(shop):
    return not shop.failures


def tell(shop):
    return f"{len(shop.orders)} orders, {shop.failures}"


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

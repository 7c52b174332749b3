"""Offers and bids: each looks for its counterpart, and waits in the book if there is none."""

import threading


class Book:
    def __init__(self):
        self.lock = threading.Lock()
        self.waiting = {"buy": [], "sell": []}
        self.trades = []

    def counterpart(self, side):
        with self.lock:
            names = self.waiting["sell" if side == "buy" else "buy"]
            return names.pop(0) if names else None

    def wait(self, side, name):
        with self.lock:
            self.waiting[side].append(name)

    def place(self, side, name):
        other = self.counterpart(side)
        if other is None:
            self.wait(side, name)
        else:
            self.trades.append((name, other))


def fee(amount):
    total = 0
    for part in range(amount):
        total += part % 3
    return total


def make():
    return Book()


def trader(side, name):
    def run(book):
        fee(4)
        book.place(side, name)
        fee(3)

    return run


WORKERS = (trader("buy", "ann"), trader("sell", "bob"))


def holds(book):
    return not (book.waiting["buy"] and book.waiting["sell"])


def tell(book):
    return f"waiting {book.waiting}"


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

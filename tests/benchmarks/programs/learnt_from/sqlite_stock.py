"""A shop's stock in SQLite, read and written in two statements."""

import sqlite3
import threading


class Stock:
    def __init__(self):
        self.database = sqlite3.connect(":memory:", check_same_thread=False)
        self.database.execute("CREATE TABLE stock (item TEXT PRIMARY KEY, count INTEGER)")
        self.database.execute("INSERT INTO stock VALUES ('apple', 10)")
        self.lock = threading.Lock()

    def count(self, item):
        with self.lock:
            return self.database.execute("SELECT count FROM stock WHERE item = ?", (item,)).fetchone()[0]

    def set_count(self, item, count):
        with self.lock:
            self.database.execute("UPDATE stock SET count = ? WHERE item = ?", (count, item))
            self.database.commit()

    def sell(self, item, number):
        left = self.count(item)
        if left >= number:
            self.set_count(item, left - number)


def make():
    return Stock()


def sell_three(stock):
    stock.sell("apple", 3)


def sell_two(stock):
    stock.sell("apple", 2)


WORKERS = (sell_three, sell_two)


def holds(stock):
    return stock.count("apple") == 5


def tell(stock):
    return f"{stock.count('apple')} apples left"


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

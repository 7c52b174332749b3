"""Two users of one SQLite connection, whose commit and rollback are for both."""

import sqlite3
import threading
import time


class Bank:
    def __init__(self):
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.db.execute("create table accounts (name text, balance integer)")
        self.db.executemany("insert into accounts values (?, ?)", [("ann", 100), ("bob", 100), ("cid", 0)])
        self.db.commit()

    def add(self, name, amount):
        self.db.execute("update accounts set balance = balance + ? where name = ?", (amount, name))

    def balance(self, name):
        return self.db.execute("select balance from accounts where name = ?", (name,)).fetchone()[0]

    def transfer(self, source, target, amount):
        self.add(source, -amount)
        self.add(target, amount)
        if self.balance(source) < 0:
            self.db.rollback()
        else:
            self.db.commit()


def make():
    return Bank()


def pay(bank):
    bank.transfer("ann", "bob", 30)


def overdraw(bank):
    time.sleep(0.02)  # the card reader
    bank.transfer("cid", "bob", 50)


WORKERS = (pay, overdraw)


def holds(bank):
    return [bank.balance(name) for name in ("ann", "bob", "cid")] == [70, 130, 0]


def tell(bank):
    return f"balances {[bank.balance(name) for name in ('ann', 'bob', 'cid')]}"


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

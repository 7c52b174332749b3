"""Accounts in a file-like store, each guarded by a lock that exists only while somebody uses the account."""

import threading
from contextlib import contextmanager


class KeyLocks:
    def __init__(self):
        self.guard = threading.Lock()
        self.locks = {}

    @contextmanager
    def holding(self, key):
        with self.guard:
            lock = self.locks.setdefault(key, threading.Lock())
        with lock:
            yield
        with self.guard:
            self.locks.pop(key, None)


class Store:
    def __init__(self):
        self.records = {}

    def load(self, key):
        return dict(self.records.get(key, {"balance": 0}))

    def save(self, key, record):
        self.records[key] = dict(record)


class Bank:
    def __init__(self):
        self.locks = KeyLocks()
        self.store = Store()

    def deposit(self, account, amount):
        with self.locks.holding(account):
            record = self.store.load(account)
            record["balance"] += amount
            self.store.save(account, record)


def make():
    return Bank()


def customer(*deposits):
    def run(bank):
        for account, amount in deposits:
            bank.deposit(account, amount)

    return run


WORKERS = (
    customer(("rent", 500)),
    customer(("rent", 40), ("food", 60)),
    customer(("food", 25), ("rent", 7)),
)


def holds(bank):
    return bank.store.records == {"rent": {"balance": 547}, "food": {"balance": 85}}


def tell(bank):
    return f"records {bank.store.records}"


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

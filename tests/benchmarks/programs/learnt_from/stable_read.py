"""An audit that reads the first account a second time to see that nothing moved."""

import threading


class Account:
    def __init__(self, balance):
        self.lock = threading.Lock()
        self.balance = balance

    def add(self, amount):
        with self.lock:
            self.balance += amount

    def read(self):
        with self.lock:
            return self.balance


class Bank:
    def __init__(self):
        self.ours = Account(100)
        self.theirs = Account(100)
        self.moving = threading.Lock()
        self.seen = None


def make():
    return Bank()


def move(bank):
    for amount in (10, -10):
        with bank.moving:
            bank.ours.add(-amount)
            bank.theirs.add(amount)


def audit(bank):
    first = bank.ours.read()
    second = bank.theirs.read()
    if bank.ours.read() == first:
        bank.seen = first + second


WORKERS = (audit, move)


def holds(bank):
    return bank.seen in (None, 200)


def tell(bank):
    return f"the audit saw {bank.seen}"


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

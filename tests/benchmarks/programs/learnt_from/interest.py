"""Interest added to an account whose balance is read and written under the lock, each for itself."""

import threading


class Account:
    def __init__(self, balance):
        self._balance = balance
        self._lock = threading.Lock()

    @property
    def balance(self):
        with self._lock:
            return self._balance

    @balance.setter
    def balance(self, value):
        with self._lock:
            self._balance = value


class Bank:
    def __init__(self):
        self.accounts = {name: Account(1000) for name in ("ann", "bob", "cid", "dee")}


def make():
    return Bank()


def rate_for(balance):
    return 2 if balance < 5000 else 1


def add_interest(bank):
    for account in bank.accounts.values():
        account.balance += account.balance * rate_for(account.balance) // 100


def withdraw(bank):
    account = bank.accounts["cid"]
    if account.balance >= 300:
        account.balance -= 300


WORKERS = (add_interest, withdraw)


def holds(bank):
    return bank.accounts["cid"].balance in (714, 720)


def tell(bank):
    return f"cid has {bank.accounts['cid'].balance}"


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

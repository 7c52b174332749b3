"""A lock for each account, made when an account is first used."""

import threading


class Accounts:
    def __init__(self):
        self.balances = {}
        self.locks = {}

    def lock_for(self, name):
        if name not in self.locks:
            self.locks[name] = threading.Lock()
        return self.locks[name]

    def deposit(self, name, amount):
        with self.lock_for(name):
            balance = self.balances.get(name, 0)
            self.balances[name] = self.checked(balance + amount)

    def checked(self, balance):
        if balance < 0:
            raise ValueError("overdrawn")
        return balance


def make():
    return Accounts()


def clerk(*names):
    def run(accounts):
        for name in names:
            accounts.deposit(name, 10)

    return run


WORKERS = (clerk("ann", "bob"), clerk("cid", "bob"))


def holds(accounts):
    return accounts.balances == {"ann": 10, "bob": 20, "cid": 10}


def tell(accounts):
    return f"balances {accounts.balances}"


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

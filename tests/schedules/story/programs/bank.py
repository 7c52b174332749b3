"""Two branches of a bank add to one account; an update can get lost."""

import threading


class Account:
    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance

    def deposit(self, amount):
        before = self.balance
        fee = self.fee(amount)
        self.balance = before + amount - fee

    def fee(self, amount):
        return 1 if amount > 1000 else 0


class Branch:
    def __init__(self, name, account):
        self.name = name
        self.account = account

    def work(self, amounts):
        for amount in amounts:
            self.account.deposit(amount)


def main():
    account = Account("ada", 100)
    branches = [Branch(name, account) for name in ("north", "south")]
    threads = [threading.Thread(target=branch.work, args=([10, 20],)) for branch in branches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance == 160, account.balance


if __name__ == "__main__":
    main()

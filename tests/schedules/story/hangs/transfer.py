"""Two tellers move money between the same accounts, in opposite directions."""

import threading


class Account:
    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance
        self.lock = threading.Lock()

    def withdraw(self, amount):
        if self.balance < amount:
            raise ValueError("not enough")
        self.balance -= amount


class Bank:
    def __init__(self):
        self.accounts = [Account("ada", 100), Account("bob", 100)]

    def transfer(self, source, target, amount):
        with source.lock:
            source.withdraw(amount)
            self._deposit(target, amount)

    def _deposit(self, target, amount):
        with target.lock:
            target.balance += amount


def teller(bank, first, second):
    for amount in (1, 2):
        bank.transfer(bank.accounts[first], bank.accounts[second], amount)


def main():
    bank = Bank()
    tellers = [threading.Thread(target=teller, args=pair) for pair in ((bank, 0, 1), (bank, 1, 0))]
    for one in tellers:
        one.start()
    for one in tellers:
        one.join()
    print(sum(account.balance for account in bank.accounts))


main()

"""Money moves between accounts; an auditor adds up all of it."""

import threading


class Account:
    def __init__(self, owner, balance):
        self.owner = owner
        self.balance = balance


class Bank:
    def __init__(self, **balances):
        self.accounts = [Account(owner, balance) for owner, balance in balances.items()]
        self._lock = threading.Lock()

    def find(self, owner):
        return next(account for account in self.accounts if account.owner == owner)

    def transfer(self, source, target, amount):
        with self._lock:
            giver, taker = self.find(source), self.find(target)
            if giver.balance < amount:
                raise ValueError("insufficient funds")
            giver.balance -= amount
            taker.balance += amount

    def total(self):
        result = 0
        for account in self.accounts:
            result += account.balance
        return result


class Auditor:
    def __init__(self, bank):
        self.bank = bank
        self.expected = bank.total()
        self.findings = []

    def check(self):
        total = self.bank.total()
        if total != self.expected:
            self.findings.append(f"{total} instead of {self.expected}")


def main():
    bank = Bank(ada=50, bob=50)
    auditor = Auditor(bank)
    threads = [
        threading.Thread(target=bank.transfer, args=("ada", "bob", 20)),
        threading.Thread(target=auditor.check),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not auditor.findings, auditor.findings


if __name__ == "__main__":
    main()

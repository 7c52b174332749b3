"""Two transfers in opposite directions take the two accounts' locks in opposite orders."""

import threading


class Account:
    def __init__(self, name, balance):
        self.name = name
        self.balance = balance
        self.lock = threading.Lock()


def transfer(source, target, amount):
    with source.lock:
        if source.balance < amount:
            raise ValueError("not enough")
        with target.lock:
            source.balance -= amount
            target.balance += amount


def main():
    ada, bob = Account("ada", 100), Account("bob", 100)
    threads = [
        threading.Thread(target=transfer, args=(ada, bob, 10)),
        threading.Thread(target=transfer, args=(bob, ada, 20)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ada.balance + bob.balance == 200


main()

"""A report goes over the orders while another thread adds one."""

import threading


class Orders:
    def __init__(self):
        self._by_number = {1: 20, 2: 30}

    def add(self, number, price):
        self._by_number[number] = price

    def total(self):
        total = 0
        for number in self._by_number:
            total += self.price(number)
        return total

    def price(self, number):
        return self._by_number[number]


def main():
    orders = Orders()
    totals = []
    accountant = threading.Thread(target=lambda: totals.append(orders.total()))
    clerk = threading.Thread(target=orders.add, args=(3, 40))
    accountant.start()
    clerk.start()
    accountant.join()
    clerk.join()
    assert totals in ([50], [90]), totals


main()

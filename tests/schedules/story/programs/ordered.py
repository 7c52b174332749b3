"""Order violation: the consumer formats before the producer has set the currency; string comparison in the end."""

import threading


class Shop:
    currency = "EUR"

    def __init__(self):
        self.lines = []


def configure(shop):
    shop.currency = "USD"


def sell(shop, price):
    text = f"{price} {shop.currency}"
    shop.lines.append(text)


def main():
    shop = Shop()
    a = threading.Thread(target=configure, args=(shop,))
    b = threading.Thread(target=sell, args=(shop, 5))
    a.start()
    b.start()
    a.join()
    b.join()
    last = shop.lines[-1]
    assert last.endswith("USD"), last


main()

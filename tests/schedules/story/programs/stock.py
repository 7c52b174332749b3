"""A shop sells from a stock; the lock protects the delivery, but not the sale."""

import threading

stock = {"apple": 1, "pear": 4}
sold = []
lock = threading.Lock()


def deliver(name, number):
    with lock:
        stock[name] = stock.get(name, 0) + number


def sell(name):
    if stock[name] > 0:
        receipt = make_receipt(name)
        stock[name] -= 1
        sold.append(receipt)


def make_receipt(name):
    return f"1 {name}"


def main():
    deliver("pear", 2)
    threads = [threading.Thread(target=sell, args=("apple",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stock["apple"] >= 0, stock


main()

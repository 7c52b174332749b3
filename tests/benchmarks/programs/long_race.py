"""A long program with one race: in the middle a thread reads a stock, and writes it back much later.

Arguments: the rounds in all, the round of the read, the round of the write. A delivery that comes between the read and
the write is lost. The other thread waits until the read; under the default schedule its turn comes after the write.
"""

import sys
import threading


class Stock:
    def __init__(self):
        self.pieces = 100
        self.looked_at = 0
        self.counting = threading.Event()


def take_stock(stock, rounds, read_at, write_at):
    for number in range(rounds):
        stock.looked_at += number & 3
        if stock.looked_at > 1_000_000:
            stock.looked_at = 0
        if number == read_at:
            pieces = stock.pieces
            stock.counting.set()
        if number == write_at:
            stock.pieces = pieces


def deliver(stock):
    stock.counting.wait()
    stock.pieces += 10


stock = Stock()
threads = [
    threading.Thread(target=take_stock, args=(stock, *map(int, sys.argv[1:]))),
    threading.Thread(target=deliver, args=(stock,)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert stock.pieces == 110

"""Two printers share a queue of labels; each prints until there are none left."""

import queue
import threading


class LabelShop:
    def __init__(self, orders):
        self.waiting = queue.Queue()
        for order in orders:
            self.waiting.put(order)
        self.printed = []

    def print_all(self):
        while True:
            if self.waiting.empty():
                break
            order = self.waiting.get()
            self.printed.append(f"label for {order}")


def main():
    shop = LabelShop(["a1", "a2", "a3"])
    printers = [threading.Thread(target=shop.print_all, name=f"printer-{n}") for n in (1, 2)]
    for printer in printers:
        printer.start()
    for printer in printers:
        printer.join()
    print(sorted(shop.printed))


main()

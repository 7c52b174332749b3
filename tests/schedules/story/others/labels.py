"""Labels are printed by two workers, in the language of each order."""

import threading
from queue import Queue

settings = threading.local()
printed = {}


def label(name, language):
    if language:
        settings.language = language
    printed[name] = getattr(settings, "language", "en")


def worker(orders):
    while (order := orders.get()) is not None:
        label(*order)


def main():
    orders = Queue()
    threads = [threading.Thread(target=worker, args=(orders,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for order in (("book", "de"), ("lamp", ""), None, None):
        orders.put(order)
    for thread in threads:
        thread.join()
    assert printed["lamp"] == "en", printed


main()

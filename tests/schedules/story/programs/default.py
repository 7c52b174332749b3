"""A counter whose first value stands in its class: the first store gives the instance one of its own."""

import threading


class Counter:
    count = 0


def visit(counter):
    before = counter.count
    counter.count = len("x") + before


def main():
    counter = Counter()
    threads = [threading.Thread(target=visit, args=(counter,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.count == 2, counter.count


main()

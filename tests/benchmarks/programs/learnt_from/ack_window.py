"""Packets kept until they are acknowledged; an acknowledgement is for all before it too."""

import threading


class Sender:
    def __init__(self, packets):
        self.lock = threading.Lock()
        self.kept = {number: f"packet {number}" for number in range(1, packets + 1)}
        self.acknowledged = 0

    def drop(self, first, last):
        with self.lock:
            for number in range(first, last + 1):
                del self.kept[number]

    def acknowledge(self, number):
        first = self.acknowledged + 1
        if number >= first:
            self.drop(first, number)
            self.acknowledged = number


def make():
    return Sender(6)


def acknowledge(*numbers):
    def run(sender):
        for number in numbers:
            sender.acknowledge(number)

    return run


WORKERS = (acknowledge(1, 2), acknowledge(4, 5))


def holds(sender):
    return sorted(sender.kept) == [6] and sender.acknowledged == 5


def tell(sender):
    return f"kept {sorted(sender.kept)}, acknowledged {sender.acknowledged}"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

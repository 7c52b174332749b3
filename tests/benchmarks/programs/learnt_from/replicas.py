"""A count in three copies, so that a copy that is wrong does no harm."""

import threading


class Copy:
    def __init__(self):
        self._count = 0

    def load(self):
        return self._count

    def save(self, count):
        self._count = count


class Count:
    def __init__(self):
        self.copies = [Copy(), Copy(), Copy()]

    def add(self, amount):
        for copy in self.copies:
            copy.save(copy.load() + amount)

    def value(self):
        return max(copy.load() for copy in self.copies)


def make():
    return Count()


def add(count):
    count.add(5)


WORKERS = (add, add)


def holds(count):
    return count.value() == 10


def tell(count):
    return f"copies {[copy.load() for copy in count.copies]}"


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

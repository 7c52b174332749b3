"""Messages recognized as known in two sets, of which the older is dropped when the newer is full."""

import threading


class Known:
    def __init__(self, limit):
        self.limit = limit
        self.lock = threading.Lock()
        self.current = {1, 2, 3, 4}
        self.previous = set()

    def rotate(self):
        with self.lock:
            self.previous = self.current
            self.current = set()

    def is_new(self, number):
        if len(self.current) >= self.limit:
            self.rotate()
        with self.lock:
            if number in self.current or number in self.previous:
                return False
            self.current.add(number)
            return True


class Inbox:
    def __init__(self):
        self.known = Known(4)
        self.delivered = []

    def receive(self, number):
        if self.known.is_new(number):
            self.delivered.append(number)


def make():
    return Inbox()


def receiver(*numbers):
    def run(inbox):
        for number in numbers:
            inbox.receive(number)

    return run


WORKERS = (receiver(5, 1), receiver(6, 2))


def holds(inbox):
    return sorted(inbox.delivered) == [5, 6]


def tell(inbox):
    return f"delivered {inbox.delivered}"


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

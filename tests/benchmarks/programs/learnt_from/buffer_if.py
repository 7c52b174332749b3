"""A bounded buffer that waits behind an if."""

import threading


class Buffer:
    def __init__(self, room):
        self.room = room
        self.items = []
        self.changed = threading.Condition()

    def put(self, item):
        with self.changed:
            while len(self.items) == self.room:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify()

    def get(self):
        with self.changed:
            if not self.items:
                self.changed.wait()
            item = self.items.pop(0)
            self.changed.notify()
            return item


class Factory:
    def __init__(self):
        self.buffer = Buffer(4)
        self.used = []


def make():
    return Factory()


def produce(factory):
    for number in range(4):
        factory.buffer.put(number)


def consume(factory):
    for _ in range(2):
        factory.used.append(factory.buffer.get())


WORKERS = (produce, consume, consume)


def holds(factory):
    return len(factory.used) == 4


def tell(factory):
    return f"used {factory.used}"


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

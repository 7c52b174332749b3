"""A producer that ends as many consumers as had signed in when it was done."""

import queue
import threading


class Line:
    def __init__(self):
        self.items = queue.Queue()
        self.consumers = 0
        self.lock = threading.Lock()
        self.eaten = []

    def sign_in(self):
        with self.lock:
            self.consumers += 1

    def close(self):
        with self.lock:
            consumers = self.consumers
        for _ in range(consumers):
            self.items.put(None)


def make():
    return Line()


def consume(line):
    line.sign_in()
    while True:
        item = line.items.get()
        if item is None:
            return
        line.eaten.append(item)


def produce(line):
    for number in range(4):
        line.items.put(number)
    line.close()


WORKERS = (consume, consume, consume, produce)


def holds(line):
    return len(line.eaten) == 4


def tell(line):
    return f"eaten {line.eaten}"


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

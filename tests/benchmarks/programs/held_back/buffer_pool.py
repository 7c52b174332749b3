"""Packets are put together in buffers that are used again and again."""

import threading
from contextlib import contextmanager


class Buffers:
    def __init__(self):
        self.lock = threading.Lock()
        self.free = []

    @contextmanager
    def borrow(self):
        with self.lock:
            buffer = self.free.pop() if self.free else []
        yield buffer
        with self.lock:
            self.free.append(buffer)


class Sender:
    def __init__(self):
        self.buffers = Buffers()
        self.lock = threading.Lock()
        self.line = []

    def encode(self, address, words):
        with self.buffers.borrow() as buffer:
            buffer.clear()
            buffer.append(address)
            buffer.extend(words)
            return buffer

    def send(self, address, text):
        packet = self.encode(address, text.split())
        with self.lock:
            self.line.append(" ".join(packet))


def make():
    return Sender()


def house(address, *texts):
    def run(sender):
        for text in texts:
            sender.send(address, text)

    return run


WORKERS = (house("A1", "send more tea", "thank you"), house("B2", "no tea left"), house("C3", "try coffee"))


def holds(sender):
    return sorted(sender.line) == ["A1 send more tea", "A1 thank you", "B2 no tea left", "C3 try coffee"]


def tell(sender):
    return f"line {sender.line}"


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

"""Messages with running numbers; the receiver drops those with a number it is already past, as repeats."""

import queue
import threading


class Line:
    def __init__(self, total):
        self.lock = threading.Lock()
        self.number = 0
        self.wire = queue.Queue()
        self.total = total
        self.received = []
        self.dropped = []

    def encode(self, number, text):
        body = text.encode()
        return b"%d %d " % (number, len(body)) + body

    def send(self, text):
        with self.lock:
            self.number += 1
            number = self.number
        frame = self.encode(number, text)
        self.wire.put(frame)

    def receive(self):
        last = 0
        for _ in range(self.total):
            number, length, body = self.wire.get().split(b" ", 2)
            if int(number) <= last:
                self.dropped.append(body)
                continue
            last = int(number)
            assert len(body) == int(length)
            self.received.append(body.decode())


def make():
    return Line(total=5)


def receiver(line):
    line.receive()


def sender(*texts):
    def run(line):
        for text in texts:
            line.send(text)

    return run


WORKERS = (receiver, sender("start pump", "open valve"), sender("lamp on"), sender("lamp off", "all done"))


def holds(line):
    return not line.dropped


def tell(line):
    return f"dropped {line.dropped}"


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

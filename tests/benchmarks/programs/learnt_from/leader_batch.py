"""Records sent in batches: the first to come sends its own and those that come meanwhile."""

import threading


class Batcher:
    def __init__(self):
        self.lock = threading.Lock()
        self.waiting = []
        self.leading = False
        self.sent = []

    def submit(self, record):
        with self.lock:
            self.waiting.append(record)
            if self.leading:
                return
            self.leading = True
        while self.waiting:
            with self.lock:
                batch = self.waiting
                self.waiting = []
            self.sent.extend(batch)
        with self.lock:
            self.leading = False


def checksum(text):
    total = 7
    for letter in text:
        total = (total * 31 + ord(letter)) % 1009
    return total


def make():
    return Batcher()


def client(*names):
    def run(batcher):
        for name in names:
            record = (name, checksum(name))
            batcher.submit(record)

    return run


WORKERS = (client("ann", "bob"), client("cleo", "dan"))


def holds(batcher):
    return len(batcher.sent) == 4 and not batcher.waiting


def tell(batcher):
    return f"sent {batcher.sent}, left {batcher.waiting}"


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

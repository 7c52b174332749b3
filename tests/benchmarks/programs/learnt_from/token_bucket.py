"""A token bucket that fills up again as time passes."""

import threading
import time


class Bucket:
    def __init__(self, size, every):
        self.size = size
        self.every = every
        self.tokens = size
        self.filled = time.monotonic()

    def refill(self):
        now = time.monotonic()
        new = int((now - self.filled) / self.every)
        if new:
            self.tokens = min(self.size, self.tokens + new)
            self.filled = now

    def take(self):
        self.refill()
        if self.tokens > 0:
            self.tokens -= 1
            return True
        return False


class Server:
    def __init__(self):
        self.bucket = Bucket(2, 60.0)
        self.allowed = []


def make():
    return Server()


def request(server):
    for number in range(2):
        if server.bucket.take():
            server.allowed.append(number)


WORKERS = (request, request, request)


def holds(server):
    return len(server.allowed) <= 2


def tell(server):
    return f"{len(server.allowed)} requests through a bucket of 2"


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

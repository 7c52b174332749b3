"""A pool of one printer: who finds it idle takes it, who does not waits to be given it."""

import threading
from collections import deque


class Waiter:
    def __init__(self):
        self.given = threading.Event()
        self.printer = None


class Pool:
    def __init__(self):
        self.lock = threading.Lock()
        self.idle = ["printer"]
        self.waiters = deque()
        self.printed = []

    def acquire(self):
        with self.lock:
            if self.idle:
                return self.idle.pop()
        waiter = Waiter()
        with self.lock:
            self.waiters.append(waiter)
        waiter.given.wait()
        return waiter.printer

    def release(self, printer):
        with self.lock:
            if not self.waiters:
                self.idle.append(printer)
                return
            waiter = self.waiters.popleft()
        waiter.printer = printer
        waiter.given.set()


def make():
    return Pool()


def print_page(text):
    def run(pool):
        page = " ".join(word.title() for word in text.split())
        printer = pool.acquire()
        pool.printed.append((printer, page))
        pool.release(printer)

    return run


WORKERS = (print_page("the first page"), print_page("another one"))


def holds(pool):
    return len(pool.printed) == 2 and pool.idle == ["printer"]


def tell(pool):
    return f"printed {pool.printed}"


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

"""An inbox that is exported page by page, while its owner tidies it up."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Inbox:
    def __init__(self, count):
        self.lock = threading.Lock()
        self.messages = list(range(1, count + 1))

    def page(self, start, size):
        with self.lock:
            return self.messages[start : start + size]

    def delete(self, number):
        with self.lock:
            self.messages.remove(number)

    def receive(self, number):
        with self.lock:
            self.messages.append(number)


class Account:
    def __init__(self):
        self.inbox = Inbox(12)
        self.exported = []

    def export(self, size):
        start = 0
        while page := self.inbox.page(start, size):
            self.exported.extend(page)
            start += len(page)


def make():
    return Account()


def backup(account):
    account.export(4)


def tidy(account):
    account.inbox.delete(11)
    account.inbox.delete(2)


def post(account):
    account.inbox.receive(13)


WORKERS = (backup, tidy, post)


def holds(account):
    return {1, 3, 4, 5, 6, 7, 8, 9, 10, 12} <= set(account.exported)


def tell(account):
    return f"exported {account.exported}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

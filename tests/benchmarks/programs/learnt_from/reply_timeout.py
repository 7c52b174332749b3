"""Replies of a server, some of which a timer gives up."""

import threading
from concurrent.futures import Future


class Client:
    def __init__(self):
        self.lock = threading.Lock()
        self.waiting = {number: Future() for number in range(1, 5)}
        self.finished = []

    def take(self, number):
        with self.lock:
            return self.waiting.pop(number, None)

    def reply(self, number, value):
        future = self.take(number)
        if future is not None and not future.done():
            future.set_result(value)

    def give_up(self, number):
        with self.lock:
            future = self.waiting.get(number)
        if future is not None and not future.done():
            future.set_exception(TimeoutError(number))
        self.take(number)

    def cancel(self, number):
        future = self.take(number)
        if future is not None:
            future.cancel()


def make():
    return Client()


def read(client):
    for number in (1, 2, 3):
        client.reply(number, f"row {number}")
    client.finished.append("read")


def hang_up(client):
    client.cancel(4)
    client.finished.append("hang up")


def expire(client):
    client.give_up(3)
    client.finished.append("expire")


WORKERS = (expire, read, hang_up)


def holds(client):
    return len(client.finished) == 3


def tell(client):
    return f"only {client.finished} finished"


def main():
    shared = make()
    timer = threading.Timer(0.01, expire, args=(shared,))
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in (read, hang_up)]
    for thread in [timer, *threads]:
        thread.start()
    for thread in [timer, *threads]:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

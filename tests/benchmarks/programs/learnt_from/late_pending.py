"""A client that sends its request and then notes who waits for the answer."""

import threading
from collections import deque


class Call:
    def __init__(self):
        self.answered = threading.Event()
        self.answer = None


class Link:
    def __init__(self):
        self.wire = deque()
        self.arrived = threading.Semaphore(0)
        self.pending = {}
        self.unknown = []
        self.answers = []

    def send(self, number):
        self.wire.append(number)
        self.arrived.release()

    def call(self, number):
        call = Call()
        self.send(number)
        self.pending[number] = call
        call.answered.wait()
        self.answers.append(call.answer)

    def answer_one(self):
        self.arrived.acquire()
        number = self.wire.popleft()
        call = self.pending.pop(number, None)
        if call is None:
            self.unknown.append(number)
            return
        call.answer = number * 10
        call.answered.set()


def make():
    return Link()


def client(link):
    for number in (1, 2):
        link.call(number)


def server(link):
    for _ in range(2):
        link.answer_one()


WORKERS = (client, server)


def holds(link):
    return link.answers == [10, 20]


def tell(link):
    return f"answers {link.answers}, unknown {link.unknown}"


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

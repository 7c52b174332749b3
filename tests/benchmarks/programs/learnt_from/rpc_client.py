"""Calls over a line: each caller waits for the answer that bears the number of its request."""

import itertools
import queue
import threading

CALLS = 4


class Pending:
    def __init__(self):
        self.answered = threading.Event()
        self.answer = None


class Client:
    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = itertools.count(1)
        self.requests = queue.Queue()
        self.replies = queue.Queue()
        self.pending = {}
        self.unknown = []
        self.results = []

    def call(self, name, *arguments):
        pending = Pending()
        number = next(self.numbers)
        self.requests.put((number, name, arguments))
        with self.lock:
            self.pending[number] = pending
        pending.answered.wait()
        return pending.answer

    def dispatch(self):
        for _ in range(CALLS):
            number, answer = self.replies.get()
            with self.lock:
                pending = self.pending.pop(number, None)
            if pending is None:
                self.unknown.append(number)
                continue
            pending.answer = answer
            pending.answered.set()


def make():
    return Client()


def server(client):
    functions = {"add": lambda a, b: a + b, "upper": str.upper}
    for _ in range(CALLS):
        number, name, arguments = client.requests.get()
        client.replies.put((number, functions[name](*arguments)))


def dispatcher(client):
    client.dispatch()


def counting(client):
    client.results.append(client.call("add", 2, 3))
    client.results.append(client.call("add", 20, 4))


def shouting(client):
    client.results.append(client.call("upper", "hello"))
    client.results.append(client.call("upper", "goodbye"))


WORKERS = (counting, shouting, server, dispatcher)


def holds(client):
    return sorted(map(str, client.results)) == ["24", "5", "GOODBYE", "HELLO"]


def tell(client):
    return f"results {client.results}"


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

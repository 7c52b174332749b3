"""A server that compiles what others ask for, and sleeps while there is nothing to do."""

import threading
from collections import deque


class Server:
    def __init__(self, expected):
        self.jobs = deque()
        self.bell = threading.Semaphore(0)
        self.sleeping = False
        self.expected = expected
        self.built = {}

    def ask(self, name, source):
        self.jobs.append((name, source))
        if self.sleeping:
            self.sleeping = False
            self.bell.release()

    def compile(self, source):
        return "".join(sorted(source))

    def serve(self):
        for _ in range(self.expected):
            while not self.jobs:
                self.sleeping = True
                self.bell.acquire()
            name, source = self.jobs.popleft()
            self.built[name] = self.compile(source)


def make():
    return Server(expected=3)


def server(shared):
    shared.serve()


def developer(**sources):
    def run(shared):
        for name, source in sources.items():
            shared.ask(name, source)

    return run


WORKERS = (developer(kernel="main loop"), server, developer(shell="prompt", editor="keys"))


def holds(shared):
    return len(shared.built) == 3


def tell(shared):
    return f"built {shared.built}, left {list(shared.jobs)}"


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

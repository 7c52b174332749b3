"""A pool of connections that opens them when they are needed, but not more than the database allows."""

import threading
from concurrent.futures import ThreadPoolExecutor

LIMIT = 2


class Connection:
    def __init__(self, number):
        self.number = number
        self.queries = []

    def query(self, text):
        self.queries.append(text)
        return f"rows of {text}"


class Pool:
    def __init__(self):
        self.changed = threading.Condition()
        self.idle = []
        self.opened = []

    def open(self):
        connection = Connection(len(self.opened) + 1)
        with self.changed:
            self.opened.append(connection)
        return connection

    def acquire(self):
        with self.changed:
            if self.idle:
                return self.idle.pop()
        if len(self.opened) < LIMIT:
            return self.open()
        with self.changed:
            while not self.idle:
                self.changed.wait()
            return self.idle.pop()

    def release(self, connection):
        with self.changed:
            self.idle.append(connection)
            self.changed.notify()


class Application:
    def __init__(self):
        self.pool = Pool()
        self.lock = threading.Lock()
        self.answers = []

    def ask(self, text):
        connection = self.pool.acquire()
        try:
            answer = connection.query(text)
        finally:
            self.pool.release(connection)
        with self.lock:
            self.answers.append(answer)


def make():
    application = Application()
    application.ask("settings")
    return application


def page(*tables):
    def run(application):
        for table in tables:
            application.ask(table)

    return run


WORKERS = (page("users", "orders"), page("stock"), page("prices"), page("users"))


def holds(application):
    return len(application.pool.opened) <= LIMIT and len(application.answers) == 6


def tell(application):
    return f"opened {len(application.pool.opened)}, answers {application.answers}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

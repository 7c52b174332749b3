"""A server that lets requests under way end before it closes its database."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Database:
    def __init__(self):
        self.open = True

    def query(self, text):
        if not self.open:
            raise RuntimeError(f"{text}: the database is closed")
        return text.upper()


class Server:
    def __init__(self):
        self.changed = threading.Condition()
        self.accepting = True
        self.active = 0
        self.database = Database()
        self.answers = []
        self.errors = []

    def handle(self, request):
        if not self.accepting:
            self.answers.append("503")
            return
        with self.changed:
            self.active += 1
        try:
            self.answers.append(self.database.query(request))
        except RuntimeError as error:
            self.errors.append(error)
        finally:
            with self.changed:
                self.active -= 1
                self.changed.notify_all()

    def stop(self):
        self.accepting = False
        with self.changed:
            while self.active:
                self.changed.wait()
        self.database.open = False


def make():
    return Server()


def client(name):
    def run(server):
        server.handle(f"get {name}")
        server.handle(f"put {name}")

    return run


def stop(server):
    server.stop()


WORKERS = (client("pens"), client("lamps"), client("desks"), client("chairs"), stop)


def holds(server):
    return not server.errors


def tell(server):
    return f"errors {server.errors}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

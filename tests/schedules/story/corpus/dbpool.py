"""A pool of database connections that is closed when the application shuts down."""

import contextlib
import sqlite3
import threading


class ConnectionPool:
    def __init__(self, path, size):
        self._all = [sqlite3.connect(path, check_same_thread=False) for _ in range(size)]
        self._idle = list(self._all)
        self._condition = threading.Condition()
        self.closed = False

    @contextlib.contextmanager
    def connection(self):
        with self._condition:
            if self.closed:
                raise RuntimeError("pool is closed")
            while not self._idle:
                self._condition.wait()
            connection = self._idle.pop()
        try:
            yield connection
        finally:
            with self._condition:
                self._idle.append(connection)
                self._condition.notify()

    def shutdown(self):
        with self._condition:
            self.closed = True
            for connection in self._all:
                connection.close()


class Service:
    def __init__(self, pool):
        self.pool = pool
        self.answers = []

    def handle(self, number):
        try:
            with self.pool.connection() as connection:
                row = connection.execute("SELECT ? * 2", (number,)).fetchone()
        except RuntimeError:
            return
        self.answers.append(row[0])


def main():
    pool = ConnectionPool(":memory:", 1)
    service = Service(pool)
    workers = [threading.Thread(target=service.handle, args=(number,)) for number in (3, 4)]
    for worker in workers:
        worker.start()
    pool.shutdown()
    for worker in workers:
        worker.join()
    print(sorted(service.answers))


if __name__ == "__main__":
    main()

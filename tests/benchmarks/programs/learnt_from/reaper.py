"""Idle connections closed by a reaper while one is being lent."""

import threading


class Connection:
    def __init__(self, number):
        self.number = number
        self.open = True
        self.idle = 5
        self.lent = False

    def query(self, text):
        if not self.open:
            raise ConnectionError(f"connection {self.number} is closed")
        return len(text)


class Pool:
    def __init__(self):
        self.lock = threading.Lock()
        self.connections = [Connection(number) for number in range(3)]
        self.connections[0].idle = 0

    def lend(self):
        with self.lock:
            for connection in reversed(self.connections):
                if connection.open and not connection.lent:
                    break
            else:
                connection = Connection(len(self.connections))
                self.connections.append(connection)
        connection.lent = True
        connection.idle = 0
        return connection

    def reap(self):
        for connection in list(self.connections):
            with self.lock:
                if connection.idle > 3 and not connection.lent:
                    connection.open = False


def make():
    return Pool()


def ask(pool):
    connection = pool.lend()
    connection.query("select 1")
    connection.lent = False


def reap(pool):
    pool.reap()


WORKERS = (ask, reap)


def holds(pool):
    return pool.connections[0].open


def tell(pool):
    return f"open: {[connection.open for connection in pool.connections]}"


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

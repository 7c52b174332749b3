"""A lock for many readers or one writer, in which a reader may become the writer."""

import threading


class SharedLock:
    def __init__(self):
        self.changed = threading.Condition()
        self.readers = 0

    def read(self):
        with self.changed:
            self.readers += 1

    def done(self):
        with self.changed:
            self.readers -= 1
            self.changed.notify_all()

    def upgrade(self):
        self.changed.acquire()
        while self.readers > 1:
            self.changed.wait()

    def downgrade(self):
        self.changed.release()


class Table:
    def __init__(self):
        self.lock = SharedLock()
        self.rows = []

    def add_if_missing(self, row):
        self.lock.read()
        if row not in self.rows:
            self.lock.upgrade()
            self.rows.append(row)
            self.lock.downgrade()
        self.lock.done()


def make():
    return Table()


def fill(*rows):
    def run(table):
        for row in rows:
            table.add_if_missing(row)

    return run


WORKERS = (fill("a", "b"), fill("b", "c"))


def holds(table):
    return len(table.rows) == 3


def tell(table):
    return f"rows {table.rows}"


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

"""A lock for readers and a writer, which lets the writer in while a reader comes."""

import threading


class ReadWriteLock:
    def __init__(self):
        self.guard = threading.Lock()
        self.writing = threading.Lock()
        self.readers = 0

    def start_reading(self):
        with self.guard:
            self.readers += 1
            first = self.readers == 1
        if first:
            self.writing.acquire()

    def stop_reading(self):
        with self.guard:
            self.readers -= 1
            last = self.readers == 0
        if last:
            self.writing.release()


class Table:
    def __init__(self):
        self.lock = ReadWriteLock()
        self.left = 0
        self.right = 0
        self.seen = []


def make():
    return Table()


def read(table):
    table.lock.start_reading()
    table.seen.append((table.left, table.right))
    table.lock.stop_reading()


def write(table):
    with table.lock.writing:
        table.left += 1
        table.right += 1


WORKERS = (read, read, write)


def holds(table):
    return all(left == right for left, right in table.seen)


def tell(table):
    return f"seen {table.seen}"


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

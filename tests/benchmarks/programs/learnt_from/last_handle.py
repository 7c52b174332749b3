"""A file shared by handles; who gives back the last one closes it."""

import threading


class File:
    def __init__(self):
        self.lock = threading.Lock()
        self.handles = 0
        self.open = False
        self.opened = 0

    def acquire(self):
        with self.lock:
            self.handles += 1
            if not self.open:
                self.open = True
                self.opened += 1

    def release(self):
        with self.lock:
            self.handles -= 1
            left = self.handles
        if left == 0:
            self.close()

    def close(self):
        self.open = False

    def read(self):
        if not self.open:
            raise ValueError("I/O operation on closed file")
        return "text"


def make():
    return File()


def read(file):
    for _ in range(2):
        file.acquire()
        file.read()
        file.release()


WORKERS = (read, read)


def holds(file):
    return file.handles == 0 and not file.open


def tell(file):
    return f"{file.handles} handles, open: {file.open}"


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

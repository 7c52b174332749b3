"""A log file that is renamed when it is full; one old file is kept."""

import tempfile
import threading
from pathlib import Path

LIMIT = 50


class RotatingLog:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "app.log"
        self.old = Path(self.folder.name) / "app.log.1"
        self.lock = threading.Lock()
        self.size = 0

    def write(self, line):
        text = f"{line}\n"
        if self.size + len(text) > LIMIT:
            self.rotate()
        with self.lock:
            with open(self.path, "a") as file:
                file.write(text)
            self.size += len(text)

    def rotate(self):
        with self.lock:
            if self.path.exists():
                self.path.replace(self.old)
            self.size = 0

    def lines(self):
        kept = []
        for path in (self.old, self.path):
            if path.exists():
                kept += path.read_text().split()
        return kept


def make():
    return RotatingLog()


def service(name, count):
    def run(log):
        for number in range(count):
            log.write(f"{name}-{number:03}")

    return run


WORKERS = (service("index", 4), service("fetch", 4))


def holds(log):
    return len(log.lines()) == 8


def tell(log):
    return f"lines {log.lines()}"


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

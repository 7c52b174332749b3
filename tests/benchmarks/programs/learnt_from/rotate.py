"""A log that is rotated when it is full, by whoever sees it first."""

import threading


class Log:
    def __init__(self, limit):
        self.limit = limit
        self.lines = []
        self.backups = {}
        self.lock = threading.Lock()

    def rotate(self):
        with self.lock:
            if 1 in self.backups:
                self.backups[2] = self.backups[1]
            self.backups[1] = self.lines
            self.lines = []

    def write(self, text):
        if len(self.lines) >= self.limit:
            self.rotate()
        with self.lock:
            self.lines.append(text)

    def count(self):
        return len(self.lines) + sum(len(lines) for lines in self.backups.values())


def make():
    return Log(5)


def server(name):
    def run(log):
        for number in range(4):
            log.write(f"{name}: request {number}")

    return run


WORKERS = (server("a"), server("b"))


def holds(log):
    return log.count() == 8 and all(log.backups.values())


def tell(log):
    return f"{len(log.lines)} lines, backups of {[len(lines) for lines in log.backups.values()]}"


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

"""A pool whose jobs put down their progress in a shared report."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Report:
    def __init__(self):
        self.pool = ThreadPoolExecutor(max_workers=3)
        self.words = 0
        self.longest = ""

    def count(self, line):
        for word in line.split():
            if len(word) > len(self.longest):
                self.longest = word
        self.words += len(line.split())


def make():
    return Report()


TEXT = ["a bear", "an elephant sat", "the horse"]


def read(report):
    list(report.pool.map(report.count, TEXT))
    report.pool.shutdown()


WORKERS = (read,)


def holds(report):
    return (report.words, report.longest) == (7, "elephant")


def tell(report):
    return f"{report.words} words, the longest {report.longest}"


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

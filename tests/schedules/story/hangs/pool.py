"""A report whose tasks wait for other tasks of the same pool."""

import threading
from concurrent.futures import ThreadPoolExecutor


class Report:
    def __init__(self, workers):
        self.pool = ThreadPoolExecutor(max_workers=workers)
        self.lock = threading.Lock()
        self.rows = []

    def page(self, number):
        with self.lock:
            self.rows.append(number)
        return number * 10

    def chapter(self, first):
        left = self.pool.submit(self.page, first)
        right = self.pool.submit(self.page, first + 1)
        return left.result() + right.result()

    def build(self):
        chapters = [self.pool.submit(self.chapter, first) for first in (0, 10)]
        return [chapter.result() for chapter in chapters]


def main():
    report = Report(2)
    print(report.build())
    report.pool.shutdown()


main()

"""Points of a customer, in a record with an edition: who comes second reads the edition again, and not the points."""

import threading


class Outdated(Exception):
    pass


class Record:
    def __init__(self):
        self.guard = threading.Lock()
        self.content = (1, 100)

    def load(self):
        with self.guard:
            return self.content

    def save(self, edition, points):
        with self.guard:
            if self.content[0] != edition:
                raise Outdated
            self.content = (edition + 1, points)


def collect(record, points):
    edition, before = record.load()
    while True:
        try:
            return record.save(edition, before + points)
        except Outdated:
            edition = record.load()[0]


def main():
    record = Record()
    threads = [threading.Thread(target=collect, args=(record, points)) for points in (10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert record.load()[1] == 130, record.load()


main()

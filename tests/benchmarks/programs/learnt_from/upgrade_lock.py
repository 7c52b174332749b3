"""A catalogue of words with numbers: who reads and finds a word missing goes on to write without leaving."""

import threading
from contextlib import contextmanager


class UpgradableLock:
    def __init__(self):
        self.changed = threading.Condition()
        self.readers = 0
        self.writing = False

    @contextmanager
    def reading(self):
        with self.changed:
            while self.writing:
                self.changed.wait()
            self.readers += 1
        try:
            yield
        finally:
            with self.changed:
                self.readers -= 1
                self.changed.notify_all()

    @contextmanager
    def upgraded(self):
        """For one who reads: the others that read are waited for."""
        with self.changed:
            while self.readers > 1:
                self.changed.wait()
            self.writing = True
        try:
            yield
        finally:
            with self.changed:
                self.writing = False
                self.changed.notify_all()


class Catalogue:
    def __init__(self, *words):
        self.lock = UpgradableLock()
        self.numbers = {word: number for number, word in enumerate(words)}
        self.coded = []

    def number(self, word):
        with self.lock.reading():
            if word not in self.numbers:
                with self.lock.upgraded():
                    self.numbers[word] = len(self.numbers)
            return self.numbers[word]


def make():
    return Catalogue("the", "cat", "sat")


def coder(text):
    def run(catalogue):
        catalogue.coded.append([catalogue.number(word) for word in text.split()])

    return run


WORKERS = (coder("the cat sat on"), coder("the dog sat"), coder("cat sat"))


def holds(catalogue):
    return len(catalogue.coded) == 3 and len(set(catalogue.numbers.values())) == 5


def tell(catalogue):
    return f"numbers {catalogue.numbers}"


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

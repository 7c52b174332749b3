"""Two jobs keep a number in a file: each reads it and writes it back."""

import os
import tempfile
import threading


class CounterFile:
    def __init__(self, path):
        self.path = path

    def read(self):
        with open(self.path) as file:
            return int(file.read())

    def write(self, number):
        with open(self.path, "w") as file:
            file.write(str(number))

    def increment(self):
        number = self.read()
        self.write(number + 1)


def main():
    with tempfile.TemporaryDirectory() as folder:
        counter = CounterFile(os.path.join(folder, "number"))
        counter.write(0)
        threads = [threading.Thread(target=counter.increment) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        number = counter.read()
    assert number == 2, number


main()

"""Two exports write to one temporary file, as they got one number; that fails only if the second one is still busy."""

import os
import tempfile
import threading


class Exports:
    def __init__(self, folder):
        self.folder = folder
        self.number = 0

    def draft(self):
        self.number += 1
        return os.path.join(self.folder, f"{self.number}.draft")

    def write(self, name):
        path = self.draft()
        with open(path, "w") as file:
            file.write(name)
        os.replace(path, os.path.join(self.folder, name))


def main():
    with tempfile.TemporaryDirectory() as folder:
        exports = Exports(folder)
        threads = [threading.Thread(target=exports.write, args=(name,)) for name in ("june", "july")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(os.listdir(folder)) == ["july", "june"]


main()

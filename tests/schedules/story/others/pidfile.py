"""A number in a file is rewritten while a monitor reads it."""

import os
import tempfile
import threading


def write(path, number):
    with open(path, "w") as file:
        file.write(f"{number}\n")


def monitor(path, seen):
    with open(path) as file:
        seen.append(file.read().strip())


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "daemon.pid")
        write(path, 100)
        seen = []
        threads = [
            threading.Thread(target=write, args=(path, 200)),
            threading.Thread(target=monitor, args=(path, seen)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen[0] in ("100", "200"), seen


main()

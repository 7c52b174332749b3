"""Lazy initialisation published before it is complete: AttributeError on None in the other thread."""

import threading


class Loader:
    def __init__(self):
        self.ready = False
        self.table = None

    def load(self):
        if not self.ready:
            self.ready = True
            self.table = self.read()

    def read(self):
        return {"a": 1}

    def look(self, key):
        self.load()
        table = self.table
        return table.get(key)


def worker(loader, out):
    out.append(loader.look("a"))


def main():
    loader, out = Loader(), []
    threads = [threading.Thread(target=worker, args=(loader, out)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if out != [1, 1]:
        raise RuntimeError(f"wrong: {len(out)}")


main()

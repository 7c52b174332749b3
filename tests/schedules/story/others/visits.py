"""Two visits are counted in a store that notes its last use under the same lock; that is never wrong."""

import threading


class Store:
    def __init__(self):
        self.guard = threading.Lock()
        self.entries = {}
        self.last = None

    def find(self, name):
        with self.guard:
            self.last = name
            return self.entries.get(name, 0)

    def keep(self, name, value):
        with self.guard:
            self.last = name
            self.entries[name] = value


store = Store()


def visit():
    count = store.find("visits")
    store.keep("visits", count + 1)


def main():
    threads = [threading.Thread(target=visit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.find("visits") == 2


main()

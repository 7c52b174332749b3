"""Two visits are counted in a store that drops what is out of date; a drop of what is not there changes nothing."""

import threading


class Store:
    def __init__(self):
        self.guard = threading.Lock()
        self.entries = {}
        self.dates = {}

    def drop(self, name):
        try:
            del self.entries[name]
            del self.dates[name]
        except KeyError:
            return False
        return True

    def find(self, name):
        with self.guard:
            if self.dates.get(name, 0) < 1:
                self.drop(name)
                return 0
            return self.entries[name]

    def keep(self, name, value):
        with self.guard:
            if len(self.entries) > 9:
                self.entries.popitem()
            self.entries[name] = value
            self.dates[name] = 1


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

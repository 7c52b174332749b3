"""A store looks for its emptiest shelf, while another thread clears shelves away."""

import threading


class Store:
    def __init__(self):
        self.shelves = {"a": ["pen"], "b": [], "c": ["ink", "pad"]}

    def emptiest(self):
        return min(self.shelves, key=self.count)

    def count(self, name):
        return len(self.shelves.get(name, ()))

    def clear_away(self):
        self.shelves.pop("a")


def main():
    store = Store()
    thread = threading.Thread(target=store.clear_away)
    thread.start()
    assert store.emptiest() == "b"
    thread.join()


main()

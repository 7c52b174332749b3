"""Thumbnails are kept in a cache that holds the two that were used last."""

import threading
from collections import OrderedDict


class LRU:
    def __init__(self, capacity):
        self.capacity = capacity
        self._data = OrderedDict()

    def get(self, key):
        if key not in self._data:
            return None
        self._data.move_to_end(key)
        return self._data[key]

    def put(self, key, value):
        self._data[key] = value
        if len(self._data) > self.capacity:
            self._data.popitem(last=False)


class Gallery:
    def __init__(self):
        self.cache = LRU(2)

    def render(self, name):
        return f"[{name}]"

    def thumbnail(self, name):
        found = self.cache.get(name)
        if found is None:
            found = self.render(name)
            self.cache.put(name, found)
        return found


def browse(gallery, names):
    for name in names:
        assert gallery.thumbnail(name) == f"[{name}]"


def main():
    gallery = Gallery()
    browse(gallery, ["sea", "sky"])
    visitors = [
        threading.Thread(target=browse, args=(gallery, ["sea"])),
        threading.Thread(target=browse, args=(gallery, ["city", "wood"])),
    ]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()


if __name__ == "__main__":
    main()

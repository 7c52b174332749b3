"""A cache that drops what was not used for longest, with a lock in put alone."""

import collections
import threading


class Recent:
    def __init__(self, size):
        self.size = size
        self.entries = collections.OrderedDict()
        self.lock = threading.Lock()

    def get(self, key):
        if key not in self.entries:
            return None
        self.entries.move_to_end(key)
        return self.entries[key]

    def put(self, key, value):
        with self.lock:
            self.entries[key] = value
            self.entries.move_to_end(key)
            while len(self.entries) > self.size:
                self.entries.popitem(last=False)


class Thumbnails:
    def __init__(self):
        self.recent = Recent(2)
        self.recent.put("cat", 1)
        self.errors = []


def make():
    return Thumbnails()


def look(thumbnails):
    try:
        for name in ("dog", "cat", "cow"):
            if thumbnails.recent.get(name) is None:
                thumbnails.recent.put(name, len(name))
    except KeyError as error:
        thumbnails.errors.append(error)


def load(thumbnails):
    for name in ("owl", "fox"):
        thumbnails.recent.put(name, len(name))


WORKERS = (look, load)


def holds(thumbnails):
    return not thumbnails.errors


def tell(thumbnails):
    return f"errors {thumbnails.errors}"


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

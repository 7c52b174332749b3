"""A cache that empties itself when it is full, under its own lock, if two threads fill it at the same time."""

import threading


class Cache:
    def __init__(self, limit):
        self._limit = limit
        self._lock = threading.Lock()
        self._entries = {}

    def clear(self):
        with self._lock:
            self._entries.clear()

    def put(self, key, value):
        with self._lock:
            if len(self._entries) >= self._limit:
                self.clear()
            self._entries[key] = value

    def drop(self, key):
        with self._lock:
            self._entries.pop(key, None)


cache = Cache(2)


def job(prefix):
    for number in range(2):
        key = f"{prefix}{number}"
        cache.put(key, number)
        cache.drop(key)


threads = [threading.Thread(target=job, args=(prefix,)) for prefix in "xyz"]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("entries", len(cache._entries))

"""A cache of limited size: eviction between the look and the use."""

import threading


class Cache:
    def __init__(self, most):
        self.most = most
        self.entries = {}
        self.lock = threading.Lock()

    def put(self, key, value):
        with self.lock:
            if len(self.entries) >= self.most:
                oldest = next(iter(self.entries))
                del self.entries[oldest]
            self.entries[key] = value

    def get(self, key):
        if key in self.entries:
            self.touch(key)
            return self.entries[key]
        return None

    def touch(self, key):
        pass


def main():
    cache = Cache(1)
    cache.put("a", 1)
    threads = [threading.Thread(target=cache.get, args=("a",)), threading.Thread(target=cache.put, args=("b", 2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()

"""A cleaner that drops what had expired when it looked."""

import threading


class Cache:
    def __init__(self):
        self.now = 100
        self.entries = {"a": (1, 90), "b": (2, 150), "c": (3, 95)}
        self.lock = threading.Lock()

    def put(self, key, value, lifetime):
        with self.lock:
            self.entries[key] = (value, self.now + lifetime)

    def get(self, key):
        with self.lock:
            entry = self.entries.get(key)
        if entry is None or entry[1] <= self.now:
            return None
        return entry[0]

    def clean(self):
        with self.lock:
            expired = [key for key, (_, until) in self.entries.items() if until <= self.now]
        for key in expired:
            with self.lock:
                self.entries.pop(key, None)


def make():
    return Cache()


def clean(cache):
    cache.clean()


def refresh(cache):
    cache.put("a", 10, 30)


WORKERS = (clean, refresh)


def holds(cache):
    return cache.get("a") == 10


def tell(cache):
    return f"entries {cache.entries}"


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

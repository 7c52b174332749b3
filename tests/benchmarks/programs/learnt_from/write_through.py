"""Settings written to the store and then to the cache before it, each with a lock."""

import threading


class Shelf:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = {}

    def put(self, name, value):
        with self.lock:
            self.values[name] = value


class Settings:
    def __init__(self):
        self.store = Shelf()
        self.cache = Shelf()

    def set(self, name, value):
        self.store.put(name, value)
        self.cache.put(name, value)


def make():
    return Settings()


def user(size, colour):
    def run(settings):
        settings.set("size", size)
        settings.set("colour", colour)

    return run


WORKERS = (user(10, "red"), user(12, "blue"))


def holds(settings):
    return settings.store.values == settings.cache.values


def tell(settings):
    return f"store {settings.store.values}, cache {settings.cache.values}"


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

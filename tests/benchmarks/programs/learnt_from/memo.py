"""A cache that locks the look-up and the store, but not the time between."""

import threading


class Memo:
    def __init__(self, load):
        self.load = load
        self.lock = threading.Lock()
        self.known = {}

    def get(self, key):
        with self.lock:
            value = self.known.get(key)
        if value is None:
            value = self.load(key)
            with self.lock:
                self.known[key] = value
        return value


class Site:
    def __init__(self):
        self.loads = []
        self.memo = Memo(self.load)

    def load(self, key):
        self.loads.append(key)
        return key.upper()


def make():
    return Site()


def visit(site):
    for key in ("home", "news"):
        site.memo.get(key)


WORKERS = (visit, visit)


def holds(site):
    return len(site.loads) == 2


def tell(site):
    return f"loaded {site.loads}"


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

"""Counters that each thread keeps for itself, gathered now and then by a reporter."""

import threading


class Counter:
    def __init__(self, owner):
        self.owner = owner
        self.value = 0


class Counters:
    """``hit`` is cheap: it takes a lock only at the first call of a thread."""

    def __init__(self):
        self.local = threading.local()
        self.lock = threading.Lock()
        self.all = []
        self.reported = []

    def mine(self):
        counter = getattr(self.local, "counter", None)
        if counter is None:
            counter = Counter(threading.current_thread().name)
            self.local.counter = counter
            with self.lock:
                self.all.append(counter)
        return counter

    def hit(self):
        self.mine().value += 1

    def report(self):
        """How often was hit since the last report."""
        with self.lock:
            total = 0
            for counter in self.all:
                total += counter.value
                counter.value = 0
            self.reported.append(total)


class Site:
    def __init__(self):
        self.counters = Counters()

    def serve(self, path):
        self.counters.hit()
        return f"<h1>{path}</h1>"


def make():
    return Site()


def visitor(*paths):
    def run(site):
        for path in paths:
            site.serve(path)

    return run


def reporter(site):
    site.counters.report()
    site.counters.report()


WORKERS = (visitor("/", "/news"), reporter, visitor("/", "/shop", "/shop/hats"))


def seen(site):
    return sum(site.counters.reported) + sum(counter.value for counter in site.counters.all)


def holds(site):
    return seen(site) == 5


def tell(site):
    return f"{seen(site)} hits of 5, reported {site.counters.reported}"


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

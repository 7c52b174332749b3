"""Calls of plugins are counted; after each eighth call the counts are reported."""

import threading


class Usage:
    def __init__(self):
        self.lock = threading.Lock()
        self.counts = {}
        self.calls = 0
        self.reports = []
        self.finished = []

    def count(self, plugin):
        with self.lock:
            self.counts[plugin] = self.counts.get(plugin, 0) + 1
            self.calls += 1
            due = self.calls % 8 == 0
        if due:
            self.report()

    def report(self):
        total = 0
        names = []
        for plugin, count in self.counts.items():
            names.append(plugin)
            total += count
        self.reports.append((total, names))


def make():
    return Usage()


def caller(*plugins):
    def run(usage):
        for plugin in plugins:
            usage.count(plugin)
        usage.finished.append(plugins[0])

    return run


WORKERS = (
    caller("spell", "spell", "style", "spell"),
    caller("search", "spell", "search", "style", "search"),
    caller("export", "style", "print"),
)


def holds(usage):
    return len(usage.finished) == 3


def tell(usage):
    return f"finished {usage.finished}, reports {usage.reports}"


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

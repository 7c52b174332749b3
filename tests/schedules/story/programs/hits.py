"""Lost update through a local, a helper and a dict item; the failure shows only in a report made later."""

import threading


class Counter:
    def __init__(self):
        self.hits = {"home": 0, "about": 0}

    def bump(self, page):
        seen = self.hits[page]
        fresh = increased(seen)
        self.hits[page] = fresh


def increased(number):
    return number + 1


def report(counter):
    lines = []
    for page in ("home", "about"):
        lines.append((page, counter.hits[page]))
    return dict(lines)


def main():
    counter = Counter()
    threads = [threading.Thread(target=counter.bump, args=("home",)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    made = report(counter)
    total = made["home"]
    assert total == 2, made


main()

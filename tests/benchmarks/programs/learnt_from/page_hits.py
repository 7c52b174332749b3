"""Hits counted for each page, by three threads."""

import threading


class Hits:
    def __init__(self):
        self.pages = {}
        self.total = 0
        self.lock = threading.Lock()

    def visit(self, page):
        self.pages[page] = self.pages.get(page, 0) + 1
        with self.lock:
            self.total += 1


def make():
    return Hits()


def crawl(hits):
    for page in ("/", "/about", "/"):
        hits.visit(page)


WORKERS = (crawl, crawl, crawl)


def holds(hits):
    return sum(hits.pages.values()) == hits.total


def tell(hits):
    return f"{hits.pages} of {hits.total}"


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

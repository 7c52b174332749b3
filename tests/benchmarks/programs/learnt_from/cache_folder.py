"""A cache in a folder: files are stored and dropped, and their sizes added up."""

import os
import tempfile
import threading
from pathlib import Path


class Cache:
    def __init__(self):
        self.place = tempfile.TemporaryDirectory()
        self.root = Path(self.place.name)

    def store(self, name, text):
        (self.root / name).write_text(text)

    def drop(self, name):
        (self.root / name).unlink(missing_ok=True)

    def size(self):
        total = 0
        for name in os.listdir(self.root):
            total += (self.root / name).stat().st_size
        return total


class Browser:
    def __init__(self):
        self.cache = Cache()
        for name in ("home", "news", "map"):
            self.cache.store(name, "x" * 100)
        self.sizes = []
        self.dropped = 0


def make():
    return Browser()


def watch(browser):
    for _ in range(2):
        browser.sizes.append(browser.cache.size())


def visit(browser):
    browser.cache.store("mail", "x" * 50)


def clean(browser):
    for name in ("news", "home"):
        browser.cache.drop(name)
        browser.dropped += 1


WORKERS = (watch, visit, clean)


def holds(browser):
    return len(browser.sizes) == 2 and browser.dropped == 2


def tell(browser):
    return f"sizes {browser.sizes}, dropped {browser.dropped}"


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

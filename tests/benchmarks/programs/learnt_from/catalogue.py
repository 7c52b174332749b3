"""A catalogue that loads each entry once; who asks meanwhile waits for the one who loads."""

import threading
from concurrent.futures import Future

BOOKS = {"emma": ("Austen", 1815), "ulysses": ("Joyce", 1922), "walden": ("Thoreau", 1854)}


class Catalogue:
    def __init__(self):
        self.lock = threading.Lock()
        self.entries = {}
        self.loading = {}
        self.loads = 0

    def load(self, title):
        author, year = BOOKS[title]
        return f"{author}: {title.title()} ({year})"

    def entry(self, title):
        with self.lock:
            if title in self.entries:
                return self.entries[title]
            if title in self.loading:
                return self.loading[title].result()
            future = self.loading[title] = Future()
        text = self.load(title)
        with self.lock:
            self.entries[title] = text
            self.loads += 1
            del self.loading[title]
        future.set_result(text)
        return text


class Library:
    def __init__(self):
        self.catalogue = Catalogue()
        self.lock = threading.Lock()
        self.shown = []

    def show(self, title):
        text = self.catalogue.entry(title)
        with self.lock:
            self.shown.append(text)


def make():
    return Library()


def reader(*titles):
    def run(library):
        for title in titles:
            library.show(title)

    return run


WORKERS = (reader("emma", "walden"), reader("ulysses"), reader("walden", "emma"))


def holds(library):
    return len(library.shown) == 5 and library.catalogue.loads == 3


def tell(library):
    return f"shown {library.shown}, loads {library.catalogue.loads}"


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

"""A journal that is sealed in segments of the same length."""

import threading

SIZE = 25


class Journal:
    def __init__(self):
        self.open = []
        self.sealed = []

    def append(self, entry):
        self.open.append(entry)
        if len(self.open) >= SIZE:
            self.seal()

    def seal(self):
        self.sealed.append(self.open)
        self.open = []

    def entries(self):
        return [entry for segment in (*self.sealed, self.open) for entry in segment]


class Node:
    def __init__(self, name):
        self.name = name
        self.number = 0

    def next_entry(self):
        self.number += 1
        return f"{self.name}-{self.number:03}"

    def work(self, journal, count):
        for _ in range(count):
            journal.append(self.next_entry())


def make():
    return Journal()


def node(name, count):
    def run(journal):
        Node(name).work(journal, count)

    return run


WORKERS = (node("north", 36), node("south", 24))


def holds(journal):
    entries = journal.entries()
    return len(entries) == len(set(entries)) == 60 and all(len(segment) == SIZE for segment in journal.sealed)


def tell(journal):
    entries = journal.entries()
    return f"{len(entries)} entries, {len(set(entries))} different, segments of {[len(s) for s in journal.sealed]}"


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

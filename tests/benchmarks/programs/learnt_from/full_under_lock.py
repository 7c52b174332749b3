"""A journal: several threads write entries and marks, one stores them; a mark bears the number of entries so far."""

import queue
import threading

WRITERS = 2
CAPACITY = 4


class Journal:
    def __init__(self):
        self.lock = threading.Lock()
        self.entries = queue.Queue(CAPACITY)
        self.count = 0
        self.writers = WRITERS
        self.stored = []

    def write(self, text):
        with self.lock:
            self.count += 1
        self.entries.put(text)

    def mark(self, name):
        with self.lock:
            self.count += 1
            self.entries.put(f"{name} after {self.count}")
            self.writers -= 1

    def finished(self):
        with self.lock:
            return self.writers == 0 and len(self.stored) == self.count

    def store(self):
        while not self.finished():
            self.stored.append(self.entries.get())


def make():
    return Journal()


def store(journal):
    journal.store()


def writer(name, *texts):
    def run(journal):
        for text in texts:
            journal.write(f"{name}: {text}")
        journal.mark(name)

    return run


WORKERS = (store, writer("pump", "on", "off", "on"), writer("door", "open", "shut", "open"))


def holds(journal):
    return len(journal.stored) == 8


def tell(journal):
    return f"stored {journal.stored}"


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

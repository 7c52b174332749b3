"""A journal whose entries are numbered under the lock and written after it."""

import threading


class Journal:
    def __init__(self):
        self.lock = threading.Lock()
        self.number = 0
        self.entries = []

    def write(self, text):
        with self.lock:
            self.number += 1
            number = self.number
        entry = f"{number:03} {text}"
        self.entries.append(entry)


def make():
    return Journal()


def writer(name):
    def run(journal):
        for what in ("opened", "closed"):
            journal.write(f"{name} {what}")

    return run


WORKERS = (writer("door"), writer("window"))


def holds(journal):
    return journal.entries == sorted(journal.entries) and len(journal.entries) == 4


def tell(journal):
    return f"entries {journal.entries}"


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

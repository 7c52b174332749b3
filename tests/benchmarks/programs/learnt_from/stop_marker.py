"""Importers read files and put rows on a queue in batches; the last importer tells the loader that it is over."""

import queue
import threading

BATCH = 3
FILES = {
    "north.csv": ("Oslo,4", "Bodo,2", "Alta,7"),
    "south.csv": ("Rome,9", "Bari,1", "Pisa,3", "Como,5"),
    "east.csv": ("Kyiv,6", "Lviv,8", "Riga,2"),
}


class Import:
    def __init__(self):
        self.batches = queue.Queue()
        self.lock = threading.Lock()
        self.running = len(FILES)
        self.table = {}

    def flush(self, batch):
        self.batches.put(tuple(batch))
        batch.clear()

    def read(self, name):
        batch = []
        for line in FILES[name]:
            town, number = line.split(",")
            batch.append((town, int(number)))
            if len(batch) == BATCH:
                self.flush(batch)
        with self.lock:
            self.running -= 1
            last = self.running == 0
        if batch:
            self.flush(batch)
        if last:
            self.batches.put(None)

    def load(self):
        while True:
            batch = self.batches.get()
            if batch is None:
                return
            self.table.update(batch)


def make():
    return Import()


def reader(name):
    def run(job):
        job.read(name)

    return run


def loader(job):
    job.load()


WORKERS = (loader, *map(reader, FILES))


def holds(job):
    return len(job.table) == 10


def tell(job):
    return f"table {job.table}"


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

"""A schema, its first rows and its index, made by three threads in whatever order."""

import threading


class Database:
    def __init__(self):
        self.tables = {}
        self.waiting = []
        self.index = {}
        self.lock = threading.Lock()

    def create(self, name):
        with self.lock:
            self.tables[name] = list(self.waiting)
            self.waiting.clear()

    def insert(self, name, row):
        with self.lock:
            if name in self.tables:
                self.tables[name].append(row)
                if self.index:
                    self.index[row] = len(self.tables[name]) - 1
            else:
                self.waiting.append(row)

    def build_index(self, name):
        with self.lock:
            rows = self.tables.get(name, self.waiting)
            for place, row in enumerate(rows):
                self.index[row] = place


def make():
    return Database()


def schema(database):
    database.create("users")


def seed(database):
    for row in ("ann", "bob", "cid"):
        database.insert("users", row)


def index(database):
    database.build_index("users")


WORKERS = (schema, seed, index)


def holds(database):
    return not database.index or len(database.index) == len(database.tables["users"])


def tell(database):
    return f"rows {database.tables}, index {database.index}"


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

"""Stock kept in rows with a version: who changes an old version must try again."""

import threading

ATTEMPTS = 2


class Table:
    def __init__(self, rows):
        self.lock = threading.Lock()
        self.rows = {key: (0, value) for key, value in rows.items()}

    def read(self, key):
        with self.lock:
            return self.rows[key]

    def write(self, key, version, value):
        with self.lock:
            if self.rows[key][0] != version:
                return False
            self.rows[key] = version + 1, value
            return True


class Warehouse:
    def __init__(self):
        self.table = Table({"bolts": 100, "nuts": 50})

    def change(self, item, amount):
        for _ in range(ATTEMPTS):
            version, count = self.table.read(item)
            if self.table.write(item, version, count + amount):
                break


def make():
    return Warehouse()


def clerk(*changes):
    def run(warehouse):
        for item, amount in changes:
            warehouse.change(item, amount)

    return run


WORKERS = (
    clerk(("bolts", -10), ("nuts", 5)),
    clerk(("bolts", 3)),
    clerk(("nuts", -2), ("bolts", -20)),
)


def holds(warehouse):
    return warehouse.table.read("bolts")[1] == 73 and warehouse.table.read("nuts")[1] == 53


def tell(warehouse):
    return f"rows {warehouse.table.rows}"


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

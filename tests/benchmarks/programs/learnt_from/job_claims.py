"""Jobs in a table, which several machines take one after the other."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor


class Jobs:
    def __init__(self, names):
        self.lock = threading.Lock()
        self.connection = sqlite3.connect(":memory:", check_same_thread=False)
        self.execute("CREATE TABLE job (id INTEGER PRIMARY KEY, name TEXT, machine TEXT)")
        for name in names:
            self.execute("INSERT INTO job (name) VALUES (?)", name)

    def execute(self, statement, *values):
        with self.lock:
            rows = self.connection.execute(statement, values).fetchall()
            self.connection.commit()
            return rows

    def take(self, machine):
        rows = self.execute("SELECT id, name FROM job WHERE machine IS NULL ORDER BY id LIMIT 1")
        if not rows:
            return None
        number, name = rows[0]
        self.execute("UPDATE job SET machine = ? WHERE id = ?", machine, number)
        return name


class Farm:
    def __init__(self):
        self.jobs = Jobs(["cut", "bend", "weld"])
        self.lock = threading.Lock()
        self.done = []

    def run(self, machine):
        name = self.jobs.take(machine)
        if name is not None:
            with self.lock:
                self.done.append(name)


def make():
    return Farm()


def machine(name):
    def run(farm):
        farm.run(name)

    return run


WORKERS = (machine("m1"), machine("m2"), machine("m3"))


def holds(farm):
    return sorted(farm.done) == ["bend", "cut", "weld"]


def tell(farm):
    return f"done {farm.done}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

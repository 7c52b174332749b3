"""Members of a club in a database; a name must be taken only once."""

import contextlib
import sqlite3
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TYPING = 0.02


class Members:
    def __init__(self):
        self.place = tempfile.TemporaryDirectory()
        self.path = Path(self.place.name) / "members.sqlite"
        with self.connected() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE members (name TEXT, mail TEXT)")
        self.lock = threading.Lock()
        self.refused = []

    def connected(self):
        connection = sqlite3.connect(self.path, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")
        return contextlib.closing(connection)

    def taken(self, connection, name):
        rows = connection.execute("SELECT count(*) FROM members WHERE name = ?", (name,)).fetchall()
        return rows[0][0] > 0

    def sign_up(self, name, mail):
        with self.connected() as connection:
            if self.taken(connection, name):
                with self.lock:
                    self.refused.append(mail)
                return False
            connection.execute("INSERT INTO members VALUES (?, ?)", (name, mail))
            return True

    def names(self):
        with self.connected() as connection:
            return sorted(name for (name,) in connection.execute("SELECT name FROM members"))


def make():
    return Members()


def person(mail, *names, pause=0):
    def run(members):
        time.sleep(pause)
        for name in names:
            if members.sign_up(name, mail):
                return

    return run


WORKERS = (
    person("lee@example.org", "sunny", "sunny2"),
    person("kim@example.org", "rainy"),
    person("pat@example.org", "sunny", "sunny3", pause=TYPING),
)


def holds(members):
    names = members.names()
    return len(names) == 3 and len(set(names)) == 3


def tell(members):
    return f"names {members.names()}, refused {members.refused}"


def main():
    shared = make()
    with ThreadPoolExecutor(max_workers=len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
    for future in futures:
        future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

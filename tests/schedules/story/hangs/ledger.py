"""Writes a ledger from two threads with a connection each; one keeps its transaction open."""

import os
import sqlite3
import tempfile
import threading


class Ledger:
    def __init__(self, path):
        self.path = path
        self.done = threading.Event()
        self.first_is_in = threading.Event()

    def connect(self):
        return sqlite3.connect(self.path, timeout=5, isolation_level=None)

    def keep_open(self):
        connection = self.connect()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO entries VALUES ('first')")
        self.done.wait()
        connection.execute("COMMIT")

    def write(self):
        connection = self.connect()
        connection.execute("INSERT INTO entries VALUES ('second')")
        self.done.set()


def main():
    folder = tempfile.mkdtemp()
    ledger = Ledger(os.path.join(folder, "ledger.db"))
    ledger.connect().execute("CREATE TABLE entries (text)")
    threads = [threading.Thread(target=job) for job in (ledger.keep_open, ledger.write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("written")


main()

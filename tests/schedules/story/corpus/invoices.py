"""Invoices get consecutive numbers from a database."""

import os
import sqlite3
import tempfile
import threading


class Ledger:
    def __init__(self, path):
        self.path = path
        with self.connect() as database:
            database.execute("CREATE TABLE invoice (number INTEGER, customer TEXT)")
            database.execute("INSERT INTO invoice VALUES (100, 'first')")

    def connect(self):
        return sqlite3.connect(self.path, timeout=30)

    def next_number(self, database):
        (number,) = database.execute("SELECT MAX(number) FROM invoice").fetchone()
        return number + 1

    def write(self, customer):
        database = self.connect()
        number = self.next_number(database)
        database.execute("INSERT INTO invoice VALUES (?, ?)", (number, customer))
        database.commit()
        database.close()

    def numbers(self):
        with self.connect() as database:
            return [number for (number,) in database.execute("SELECT number FROM invoice ORDER BY number")]


def main():
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(os.path.join(folder, "ledger.db"))
        threads = [threading.Thread(target=ledger.write, args=(name,)) for name in ("ada", "bob")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        numbers = ledger.numbers()
    assert numbers == [100, 101, 102], numbers


if __name__ == "__main__":
    main()

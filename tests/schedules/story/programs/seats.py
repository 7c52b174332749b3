"""Two clerks sell the last seat from a database."""

import sqlite3
import threading

PATH = "seats.db"


def connect():
    return sqlite3.connect("file:seats?mode=memory&cache=shared", uri=True, isolation_level=None)


def sell(results, name):
    database = connect()
    (free,) = database.execute("SELECT free FROM seats WHERE flight = 7").fetchone()
    if free > 0:
        database.execute("UPDATE seats SET free = ? WHERE flight = 7", (free - 1,))
        results.append(name)
    database.close()


def main():
    keeper = connect()
    keeper.execute("CREATE TABLE seats (flight INTEGER, free INTEGER)")
    keeper.execute("INSERT INTO seats VALUES (7, 1)")
    results = []
    threads = [threading.Thread(target=sell, args=(results, name)) for name in ("ada", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 1, results


main()

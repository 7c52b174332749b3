"""Five threads write rows through a pool of two connections."""

import tempfile
import threading
from pathlib import Path

import peewee
from playhouse.pool import PooledSqliteDatabase


def work(number: int) -> None:
    for step in range(2):
        with database.connection_context(), turn:
            Row.create(thread=number, step=step)


with tempfile.TemporaryDirectory() as folder:
    turn = threading.Lock()
    database = PooledSqliteDatabase(
        str(Path(folder, "rows.db")), max_connections=2, timeout=60, check_same_thread=False
    )

    class Row(peewee.Model):
        thread = peewee.IntegerField()
        step = peewee.IntegerField()

        class Meta:
            database = database

    with database.connection_context():
        database.create_tables([Row])
    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.connection_context():
        assert Row.select().count() == 10
    database.close_all()

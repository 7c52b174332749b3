"""Which connections and cursors of databases are closed."""

from __future__ import annotations

import sqlite3

import pytest

from replay_dd.schedules.runtime.accesses.closable import is_closed_database
from replay_dd.schedules.runtime.accesses.names import Names

pytestmark = pytest.mark.once


class Connection(sqlite3.Connection):
    """A program's own class of connections."""

    @property
    def total_changes(self) -> int:
        raise AssertionError("this ran code of the program")


@pytest.mark.parametrize("kind", [sqlite3.Connection, Connection])
def test_a_connection_tells_itself(kind: type[sqlite3.Connection]) -> None:
    connection = kind(":memory:")
    assert not is_closed_database(connection, {})
    connection.close()
    assert is_closed_database(connection, {})


def test_a_cursor_is_known_from_its_close() -> None:
    names, connection = Names(), sqlite3.connect(":memory:")
    cursors = [connection.cursor() for _ in range(2)]
    names.remember_closed(cursors[0])
    names.remember_closed(connection)  # it can die, and another one may get its address
    assert [is_closed_database(one, names.closed) for one in (*cursors, connection)] == [True, False, False]
    names.closed[id(cursors[1])] = names.closed[id(cursors[0])]
    assert not is_closed_database(cursors[1], names.closed)
    connection.close()

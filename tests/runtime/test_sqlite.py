"""Threads that wait for locks of SQLite: under the schedule, on the virtual clock, and otherwise as SQLite does it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.replaying.replay import exact_plan
from replay_dd.schedules.running.runner import Runner
from replay_dd.schedules.running.target import describe_program
from tests.runtime.programs import (
    DEFAULT,
    assert_same,
    output_of,
    random_walk,
    replayed,
    run_program,
    write_program,
    written_under_every_schedule,
    written_without_us,
)

SCHEDULES = 5

_FIRST = """
import os, sqlite3, tempfile, threading, time
first = threading.Thread(target=int)
first.start()
first.join()
folder = tempfile.TemporaryDirectory()
data, other_data = os.path.join(folder.name, "data"), os.path.join(folder.name, "other")
def connect(**options):
    return sqlite3.connect(data, **options)
def run(*functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def fresh(journal="delete"):
    connection = connect()
    connection.executescript(
        f"pragma synchronous=off; pragma journal_mode={journal}; drop table if exists one; create table one (value);"
        "insert into one values (0)"
    )
    connection.close()
def value():
    connection = connect()
    (found,) = connection.execute("select sum(value) from one").fetchone()
    connection.close()
    return found
"""

PROGRAMS = {
    "writers begin with a lock": """
def add():
    connection = connect()
    for _ in range(2):
        connection.execute("begin immediate")
        (value,) = connection.execute("select value from one").fetchone()
        for _ in range(20): value += 0.05
        connection.execute("update one set value = ?", (round(value),))
        connection.commit()
    connection.close()
for journal in ("delete", "wal"):
    fresh(journal)
    run(add, add, add)
    print(journal, value())
""",
    "transactions that have read cannot wait for each other": """
def add():
    connection = connect(timeout=10_000, isolation_level=None)
    while True:
        connection.execute("begin")
        (value,) = connection.execute("select value from one").fetchone()
        try:
            connection.execute("update one set value = ?", (value + 1,))
        except sqlite3.OperationalError as error:
            assert "locked" in str(error), error
            connection.rollback()
        else:
            connection.commit()
            break
    connection.close()
start = time.monotonic()
for journal in ("delete", "wal"):
    fresh(journal)
    run(add, add, add)
    print(journal, value())
assert time.monotonic() - start < 1_000, "it waited where waiting could not help"
""",
    "a commit waits for those who read": """
def read():
    connection = connect(isolation_level=None)
    rows = connection.execute("select value from one")
    next(rows)
    reading.set()
    time.sleep(0.05)
    for _ in rows: log.append("read")
    connection.close()
def write():
    connection = connect()
    connection.execute("insert into one values (1)")
    reading.wait()
    connection.commit()
    log.append("written")
    connection.close()
fresh()
connection = connect()
connection.execute("insert into one values (2)")
connection.commit()
connection.close()
log, reading = [], threading.Event()
run(read, write)
print(log, value())
""",
    "whatever waits": """
def hold():
    connection = connect(isolation_level=None)
    connection.execute("begin exclusive")
    held.set()
    time.sleep(0.05)
    connection.execute("insert into one values (1000)")
    connection.execute("commit")
    connection.close()
def implicitly(connection): connection.execute("insert into one values (1)"); connection.commit()
def together(connection):
    with connection: connection.execute("insert into one values (1)")
def many(connection):
    values = ((given.append(number) or number,) for number in range(3))
    connection.executemany("insert into one values (?)", values)
    connection.commit()
    print(given)
    given.clear()
def script(connection): connection.executescript("insert into one values (1); insert into one values (2)")
def returning(connection):
    print(connection.execute("insert into one values (1) returning value").fetchall())
    connection.commit()
def reading(connection): print(connection.execute("select count(*) from one").fetchall())
def backup(connection):
    with sqlite3.connect(other_data) as other: connection.backup(other)
    print(other.execute("select count(*) from one").fetchall())
    other.close()
def restore(connection):
    with sqlite3.connect(other_data) as other: other.backup(connection)
    other.close()
def alter(connection): connection.execute("create table other (value)")
def attach(connection):
    memory = sqlite3.connect(":memory:")
    memory.execute("attach ? as data", (data,))
    memory.execute("insert into data.one values (1)")
    memory.commit()
    memory.close()
class Own(sqlite3.Connection): pass
def act():
    connection = connect(factory=Own)
    held.wait()
    action(connection)
    connection.close()
given = []
for action in (implicitly, together, many, script, returning, reading, backup, restore, alter, attach):
    fresh()
    held = threading.Event()
    run(hold, act)
    print(action.__name__, value())
""",
    "a connection for all": """
def add():
    for _ in range(2):
        with lock, connection: connection.execute("update one set value = value + 1")
def add_alone():
    own = connect()
    for _ in range(2):
        with own: own.execute("update one set value = value + 1")
    own.close()
fresh()
connection = connect(check_same_thread=False)
lock = threading.Lock()
run(add, add, add_alone)
connection.close()
print(value())
""",
    "nobody else is there": """
fresh()
one, other = connect(), connect(timeout=0)
one.execute("begin immediate")
try:
    other.execute("begin immediate")
except sqlite3.OperationalError as error:
    print(type(one), error, error.sqlite_errorname)
one.close()
other.close()
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_writes_what_it_writes_without_us(name: str, tmp_path: Path) -> None:
    written = written_under_every_schedule(tmp_path, _FIRST + PROGRAMS[name], SCHEDULES)
    assert written_without_us(tmp_path) == written


@pytest.mark.parametrize("granularity", ["sync", "access"])
def test_the_time_out_passes_on_the_virtual_clock(granularity: str, tmp_path: Path) -> None:
    """Of the connection and of the statement that sets it; and what a schedule may do makes it no shorter."""
    text = """
def hold():
    connection = connect(isolation_level=None)
    connection.execute("begin immediate")
    held.set()
    let_go.wait()
    connection.execute("commit")
    connection.close()
def wait(connection, seconds):
    start = time.monotonic()
    try:
        connection.execute("insert into one values (1)")
    except sqlite3.OperationalError as error:
        print(seconds, round(time.monotonic() - start), error, error.sqlite_errorname)
def act():
    held.wait()
    connection = connect(timeout=500)
    wait(connection, 500)
    connection.execute("pragma busy_timeout = 2000")
    print(connection.execute("pragma busy_timeout").fetchone())
    wait(connection, 2)
    connection.close()
    let_go.set()
fresh()
held, let_go = threading.Event(), threading.Event()
run(hold, act)
print(value())
"""
    settings = Settings(granularity=granularity)
    for plan in (DEFAULT, random_walk(1), random_walk(2)):
        run = run_program(tmp_path, _FIRST + text, plan, settings=settings, time_limit_s=100)
        assert output_of(run) == (
            "500 500 database is locked SQLITE_BUSY\n(2000,)\n2 2 database is locked SQLITE_BUSY\n0\n"
        )
        assert_same(run, replayed(run.log))


def test_a_lost_update_is_found_and_replays(tmp_path: Path) -> None:
    """One thread reads, another one writes, the first one writes what it has read."""
    text = """
def add():
    connection = connect()
    for _ in range(3):
        (value,) = connection.execute("select value from one").fetchone()
        with connection: connection.execute("update one set value = ?", (value + 1,))
    connection.close()
fresh()
run(add, add)
print(value())
"""
    write_program(tmp_path, _FIRST + text)
    program = describe_program((sys.executable, "prog.py"), directory=tmp_path)
    with Runner(program, Settings()) as runner:
        assert output_of(runner.run(DEFAULT, 60)) == "6\n"
        seed, run = 0, runner.run(random_walk(0), 60)
        while output_of(run) == "6\n" and seed < 200:
            seed += 1
            run = runner.run(random_walk(seed), 60)
        assert output_of(run) in {"3\n", "4\n", "5\n"}
        assert_same(run, runner.run(exact_plan(run.log), 60))


def test_a_lock_of_another_process_is_waited_for_in_real_time(tmp_path: Path) -> None:
    text = """
import sys, time
from subprocess import PIPE, Popen
CHILD = '''
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("begin immediate")
connection.execute("update one set value = value + 10")
print("held", flush=True)
sys.stdin.read()
connection.execute("commit")
connection.close()
'''
def act():
    connection = connect(timeout=30)
    connection.execute("update one set value = value + 1")
    connection.commit()
    connection.close()
def let_go():
    time.sleep(0.1)  # until nobody else can go on
    child.stdin.close()
for journal in ("delete", "wal"):
    fresh(journal)
    with Popen([sys.executable, "-c", CHILD, data], stdin=PIPE, stdout=PIPE) as child:
        child.stdout.readline()
        run(act, act, let_go)
    print(journal, value())
"""
    run = run_program(tmp_path, _FIRST + text)
    assert output_of(run) == "delete 12\nwal 12\n"
    assert_same(run, replayed(run.log))


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_writer_of_another_process_may_be_done_at_any_moment(tmp_path: Path, journal: str) -> None:
    """Before a request for a lock is granted, between that and the next one, or while SQLite looks at the file."""
    text = """
import sys
from subprocess import PIPE, Popen
CHILD = '''
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
for _ in sys.stdin:
    connection.execute("begin immediate")
    connection.execute("update one set value = value + 10")
    print("held", flush=True)
    time.sleep(0.02)
    connection.execute("commit")
    print("done", flush=True)
connection.close()
'''
def act():
    connection = connect(timeout=0)
    while True:
        try: connection.execute("update one set value = value + 1")
        except sqlite3.OperationalError: continue
        break
    connection.commit()
    connection.close()
fresh(sys.argv[1])
with Popen([sys.executable, "-c", CHILD, data], stdin=PIPE, stdout=PIPE, text=True) as child:
    for _ in range(8):
        child.stdin.write("go on\\n")
        child.stdin.flush()
        child.stdout.readline()
        run(act)
        child.stdout.readline()
    child.stdin.close()
print(value())
"""
    run = run_program(tmp_path, _FIRST + text, arguments=[journal])
    assert output_of(run) == "88\n"
    assert_same(run, replayed(run.log))


def test_a_signal_is_handled_while_its_thread_waits_and_its_exception_comes_after(tmp_path: Path) -> None:
    text = """
import os, signal
def handle(number, frame):
    print("handled")
    raise RuntimeError("from the handler")
def hold():
    connection = connect(isolation_level=None)
    connection.execute("begin immediate")
    held.set()
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(1)
    connection.execute("commit")
    connection.close()
fresh()
signal.signal(signal.SIGUSR1, handle)
held = threading.Event()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
own = connect(timeout=100)
try:
    own.execute("insert into one values (1)")
    print(own.in_transaction)
except RuntimeError as error:
    print(error, own.in_transaction)
own.commit()
own.close()
thread.join()
print(value())
"""
    run = run_program(tmp_path, _FIRST + text)
    assert output_of(run) == "handled\nfrom the handler True\n1\n"
    assert_same(run, replayed(run.log))

"""Every clock and source of entropy is fixed, or real on request."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.baton.clock import Clock
from replay_dd.schedules.runtime.compat import FREE_THREADED
from replay_dd.schedules.runtime.stdlib import entropy
from replay_dd.schedules.runtime.stdlib.time_functions import replacements
from tests.runtime.programs import assert_same, output_of, replayed, run_program, written_without_us

CLOCKS = """
    import datetime, threading, time
    def look():
        global seen
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
            seen[name] = getattr(time, name)()
            seen[name + "_ns"] = getattr(time, name + "_ns")()
        for name in ("REALTIME", "MONOTONIC", "PROCESS_CPUTIME_ID"):
            seen[name] = time.clock_gettime(getattr(time, "CLOCK_" + name))
            seen[name + "_ns"] = time.clock_gettime_ns(getattr(time, "CLOCK_" + name))
        seen["now"] = datetime.datetime.now()
        seen["aware"] = datetime.datetime.now(datetime.timezone.utc)
        seen["own"] = Own.now()
        seen["days"] = datetime.date.today(), datetime.datetime.today()
        assert abs(seen["aware"].timestamp() - seen["time"]) < 1
        assert abs(seen["now"].timestamp() - seen["REALTIME"]) < 1
    class Own(datetime.datetime):
        pass
    seen = {}
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert type(seen["own"]) is Own and type(seen["now"]) is datetime.datetime
    print(seen)
"""

ENTROPY = """
    import os, random, ssl, threading, uuid
    def look():
        print(os.urandom(4), os.getrandom(4), random.random(), ssl.RAND_bytes(8).hex(), uuid.uuid4())
        print(uuid.uuid1().time, uuid.uuid1().clock_seq)
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
"""


def test_all_clocks_are_virtual(tmp_path: Path) -> None:
    settings = Settings(start_ns=1_000_000_000 * 1_000_000_000)
    first, second = (output_of(run_program(tmp_path, CLOCKS, settings=settings)) for _ in range(2))
    assert first == second
    assert "'time': 1000000000.0" in first
    assert "datetime.datetime(2001, 9, 9, " in first


def test_the_real_clock_on_request(tmp_path: Path) -> None:
    settings = Settings(start_ns=1_000_000_000 * 1_000_000_000, real_clock=True)
    first, second = (run_program(tmp_path, CLOCKS, settings=settings) for _ in range(2))
    assert output_of(first) != output_of(second)
    assert "'time': 1000000000.0" not in output_of(first)
    assert first.log.ending.digest == second.log.ending.digest


def test_all_entropy_is_fixed(tmp_path: Path) -> None:
    settings = Settings(start_ns=1_000_000_000 * 1_000_000_000)
    first, second = (output_of(run_program(tmp_path, ENTROPY, settings=settings)) for _ in range(2))
    assert first == second


def test_real_entropy_on_request(tmp_path: Path) -> None:
    first, second = (output_of(run_program(tmp_path, ENTROPY, settings=Settings(real_entropy=True))) for _ in range(2))
    assert not set(first.split()[:5]) & set(second.split()[:5])


# Opening a file makes SQLite start its generator of random numbers anew.
SQLITE = """
    import os, sqlite3, tempfile, threading, time
    def look():
        with tempfile.TemporaryDirectory() as folder:
            for place in (":memory:", os.path.join(folder, "one"), os.path.join(folder, "two")):
                connection = sqlite3.connect(place)
                texts.extend(connection.execute("select random(), hex(randomblob(8)), random()").fetchone())
                (moment,) = connection.execute("select (julianday('now') - 2440587.5) * 86400").fetchone()
                assert abs(moment - time.time()) < 10, (moment, time.time())
                connection.execute("create table one (moment default current_timestamp)")
                connection.execute("insert into one default values")
                dates.extend(connection.execute("select moment, strftime('%s', 'now') from one").fetchone())
                connection.close()
    texts, dates = [], []
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    print(dates[0], dates[1])
    print(len(set(texts)), sum(texts[::3]))
"""


def test_the_clock_and_the_entropy_of_sqlite(tmp_path: Path) -> None:
    moment = "2001-09-09 01:46:40 1000000000\n"
    for settings, is_fixed in (
        (Settings(start_ns=1_000_000_000 * 1_000_000_000), (True, True)),
        (Settings(start_ns=1_000_000_000 * 1_000_000_000, real_entropy=True), (True, False)),
        (Settings(start_ns=1_000_000_000 * 1_000_000_000, real_clock=True), (False, True)),
    ):
        first, second = (output_of(run_program(tmp_path, SQLITE, settings=settings)) for _ in range(2))
        assert [text.startswith(moment) for text in (first, second)] == [is_fixed[0]] * 2
        numbers = [text.splitlines()[1].split() for text in (first, second)]
        assert [amount for amount, _ in numbers] == ["9", "9"]
        assert (numbers[0] == numbers[1]) is is_fixed[1]


def test_what_ssl_says_to_a_wrong_amount_of_random_bytes(tmp_path: Path) -> None:
    text = """
        import ssl, threading
        def look():
            for amount in (-1, "a"):
                try:
                    ssl.RAND_bytes(amount)
                except (TypeError, ValueError) as error:
                    print(type(error), error if amount == -1 else "")
            print(ssl.RAND_bytes(0), len(ssl.RAND_bytes(20)))
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text)
    assert written_without_us(tmp_path) == output_of(run)


def test_the_classes_of_datetime_are_what_they_are(tmp_path: Path) -> None:
    """What the program might notice of a stand-in: identity, pickling, errors, warnings."""
    text = """
        import copy, datetime, pickle, threading, warnings
        thread = threading.Thread(target=int)
        thread.start(); thread.join()
        now = datetime.datetime.now()
        print(type(now), pickle.loads(pickle.dumps(now)) == now, copy.copy(now) == now, datetime.datetime.__mro__)
        print(type(datetime.datetime.fromtimestamp(0, datetime.timezone.utc)) is datetime.datetime)
        try:
            datetime.datetime.now(5)
        except TypeError as error:
            print(str(error).partition("tzinfo")[1])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            print(datetime.datetime.utcnow().tzinfo)
        print([warning.category.__name__ for warning in caught])
        """
    run = run_program(tmp_path, text)
    plain = subprocess.run([sys.executable, "prog.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert plain.returncode == 0, plain.stderr
    assert output_of(run) == plain.stdout


# What C code finds in a function before it takes it for a built-in one.
KINDS = """
    import ctypes, datetime, threading, time
    thread = threading.Thread(target=int)
    thread.start(); thread.join()
    flags = ctypes.pythonapi.PyCFunction_GetFlags
    flags.argtypes = (ctypes.py_object,)
    clocks = [*{clocks}, datetime.datetime.now, datetime.datetime.utcnow]
    for clock in clocks:
        print(type(clock), flags(clock), clock.__self__, clock.__module__, clock.__qualname__, clock.__doc__)
"""

# Puts another function into the table of a clock, as C code does, and asks the first one from there.
WRITTEN_INTO = """
    import ctypes, datetime, threading, time
    FUNCTION = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_void_p)
    thread = threading.Thread(target=int)
    thread.start(); thread.join()
    def in_table(function):
        table = ctypes.c_void_p.from_address(id(function) + object.__basicsize__).value
        return ctypes.c_void_p.from_address(table + ctypes.sizeof(ctypes.c_void_p))
    def put(function):
        place = in_table(function)
        real = FUNCTION(place.value)
        other = FUNCTION(lambda self, argument: (told.append(real(self, argument)), "other")[1])
        before, place.value = place.value, ctypes.cast(other, ctypes.c_void_p).value
        kept.extend((real, other))
        return place, before
    told, kept = [], []
    for function, kind in ((time.time_ns, int), (time.time, float), (datetime.datetime.utcnow, datetime.datetime)):
        place, before = put(function)
        answers = [function(), function()]
        place.value = before
        print(answers, [type(one) is kind for one in told], told[1] > told[0], function() > told[1])
        told.clear()
"""


@pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled for this Python")
def test_clocks_are_built_in_functions(tmp_path: Path) -> None:
    """Else code of an extension module that takes them for what they are would read beside them, and write there."""
    names = [name for name in replacements(Clock(0)) if hasattr(time, name)]
    assert len(names) > 10
    run = run_program(tmp_path, KINDS.format(clocks="[" + ", ".join(f"time.{name}" for name in names) + "]"))
    assert written_without_us(tmp_path) == output_of(run)


@pytest.mark.skipif(accelerator is None or FREE_THREADED, reason="objects begin in another way, or are of Python")
def test_c_code_may_put_its_own_clock_into_a_function(tmp_path: Path) -> None:
    run = run_program(tmp_path, WRITTEN_INTO)
    expected = "['other', 'other'] [True, True] True True\n" * 3
    assert output_of(run) == expected == written_without_us(tmp_path)


def test_clocks_without_the_accelerator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    settings = Settings(start_ns=1_000_000_000 * 1_000_000_000)
    assert "'time': 1000000000.0" in output_of(run_program(tmp_path, CLOCKS, settings=settings))


def test_a_clock_of_the_program_may_ask_datetime(tmp_path: Path) -> None:
    text = """
        import datetime, threading, time
        start = datetime.datetime.now()
        time.time = lambda: 7.0 + (datetime.datetime.now() - start).total_seconds()
        def look():
            print(int(time.time()), datetime.datetime.now() - start, datetime.datetime.utcnow().year > 2000)
        thread = threading.Thread(target=look)
        thread.start(); thread.join()
        """
    assert output_of(run_program(tmp_path, text)).startswith("7 0:00:00")


def test_sleeps_are_real_with_the_real_clock_and_replay(tmp_path: Path) -> None:
    text = """
        import threading, time
        def sleep(seconds):
            start = time.monotonic()
            with condition: condition.wait(seconds)
            slept.append(time.monotonic() - start >= seconds)
            order.append(seconds)
        def count():
            while len(slept) < 3: turns.append(1)
        slept, order, turns, condition = [], [], [], threading.Condition()
        threads = [threading.Thread(target=sleep, args=(seconds,)) for seconds in (0.3, 0.1, 0.2)]
        threads.append(threading.Thread(target=count))
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        print(slept, order, len(turns))
        """
    run = run_program(tmp_path, text, settings=Settings(real_clock=True))
    assert output_of(run).startswith("[True, True, True]"), output_of(run)
    assert_same(run, replayed(run.log))


def test_forked_children_draw_other_numbers_the_same_in_each_run(tmp_path: Path) -> None:
    text = """
        import os, random, tempfile, threading, uuid
        def draw():
            return repr((os.urandom(4), random.random(), uuid.uuid4().hex, os.path.basename(tempfile.mktemp())))
        def fork(depth):
            for _ in range(2):
                if os.fork() == 0:
                    os.write(into, (draw() + chr(10)).encode())
                    if depth:
                        fork(depth - 1)
                    os._exit(0)
                os.wait()
        threading.Thread(target=draw).start()
        out, into = os.pipe()
        fork(1)
        os.write(into, draw().encode())
        drawn = os.read(out, 9999).decode().split(chr(10))
        print(drawn, [len(set(column)) for column in zip(*map(eval, drawn))])
        """
    run = run_program(tmp_path, text)
    *_, told = output_of(run).splitlines()  # from Python 3.12 on, forks beside threads are warned of
    assert told.endswith("[7, 7, 7, 7]"), told
    assert output_of(replayed(run.log)).splitlines()[-1] == told


def test_a_child_seeds_what_was_loaded_early_from_its_own_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """`random` may be loaded before the program, by a `.pth` file of the environment."""
    found: list[object] = []
    monkeypatch.setattr(entropy, "_branch", 0)
    monkeypatch.setattr(entropy, "_streams", {7: "of the parent"})
    monkeypatch.setattr(entropy, "_reseeds", [lambda: found.append((dict(entropy._streams), entropy._branch))])
    entropy.go_on_in_child(1)
    assert found == [({}, entropy._branch)]
    assert entropy._branch != 0

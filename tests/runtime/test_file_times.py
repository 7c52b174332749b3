"""The times of files follow the virtual clock: in a recorded run, and in a replay on another day."""

from __future__ import annotations

import os
import re
import textwrap
import time
from pathlib import Path

import pytest

from replay_dd.schedules.model import Settings
from replay_dd.schedules.runtime.baton.clock import Clock
from replay_dd.schedules.runtime.stdlib import file_times
from replay_dd.schedules.runtime.stdlib.file_times import FileTimes
from tests.runtime.programs import assert_same, output_of, replayed, run_program, written_without_us
from tests.schedules.forking import forked_output

DAY_NS = 24 * 3600 * 1_000_000_000

# Each age in tenths of a second, so that what the readings of the clock add does not count.
AGES = """
    import os, pathlib, shutil, tempfile, threading, time
    def age(path):
        return round(time.time() - os.stat(path).st_mtime, 1) + 0.0  # and not -0.0
    def ages():
        return {entry.name: round(time.time() - entry.stat().st_mtime, 1) + 0.0 for entry in sorted(
            os.scandir(folder), key=lambda entry: entry.name)}
    def work():
        kept = open(folder / "kept", "w")
        (folder / "a").write_text("a")
        time.sleep(5)
        (folder / "b").write_text("b")
        print(age(folder / "a"), age(folder / "b"), os.path.getmtime(folder / "b") <= time.time())
        time.sleep(3)
        kept.write("k")
        kept.flush()
        print(ages())
        os.utime(folder / "b", (time.time(), time.time() + 100))
        shutil.copy2(folder / "a", folder / "copy")
        time.sleep(200)
        print(ages(), int(os.stat("old").st_mtime))
        os.utime(folder / "b")
        os.symlink("nowhere", folder / "link")
        print(age(folder / "b"), round(time.time() - os.lstat(folder / "link").st_mtime, 1) + 0.0)
    folder = pathlib.Path(tempfile.mkdtemp())
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""
TOLD = """\
5.0 0.0 True
{'a': 8.0, 'b': 3.0, 'kept': 0.0}
{'a': 208.0, 'b': 100.0, 'copy': 208.0, 'kept': 200.0} 1000000000
0.0 0.0
"""

KINDS = """
    import os, pathlib, shutil, stat, tempfile, threading
    def look():
        path.write_text("text")
        told = os.stat(path)
        print(type(told) is os.stat_result, stat.S_ISREG(told.st_mode), told.st_size, len(told))
        print(abs(told.st_mtime - told.st_mtime_ns / 1e9) < 1e-6, told[8] == int(told.st_mtime), path.stat() == told)
        with path.open() as file:
            print(os.fstat(file.fileno()).st_mtime_ns == told.st_mtime_ns, os.stat(file.fileno()).st_ino == told.st_ino)
        print(os.stat in os.supports_fd, os.stat in os.supports_dir_fd, os.utime in os.supports_follow_symlinks)
        print(shutil.rmtree.avoids_symlink_attacks, os.path.exists(path), os.path.exists(str(path) + "none"))
        try:
            os.stat("none")
        except FileNotFoundError as error:
            print(error)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "file")
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
"""

WATCHER = """
    import os, tempfile, threading, time
    def write(text):
        with open(path, "w") as file:
            file.write(text)
    def watch():
        last = None
        while not done.is_set():
            if (now := os.stat(path).st_mtime) != last:
                last = now
                seen.append(open(path).read())
            time.sleep(0.1)
    path, seen, done = os.path.join(tempfile.mkdtemp(), "settings"), [], threading.Event()
    write("a")
    watcher = threading.Thread(target=watch)
    watcher.start()
    for text in "bcdefgh":
        time.sleep(1)
        write(text)
    time.sleep(1)
    done.set()
    watcher.join()
    print(seen)
"""


def make_old(folder: Path) -> None:
    (folder / "old").touch()
    os.utime(folder / "old", (1_000_000_000, 1_000_000_000))


@pytest.mark.parametrize("days", [0, 1], ids=["today", "recorded yesterday"])
def test_ages_of_files_are_those_that_the_clock_tells(tmp_path: Path, days: int) -> None:
    make_old(tmp_path)
    run = run_program(tmp_path, AGES, settings=Settings(start_ns=time.time_ns() - days * DAY_NS))
    assert output_of(run) == TOLD
    assert_same(run, replayed(run.log))


def test_ages_without_the_accelerator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", "off")
    make_old(tmp_path)
    assert output_of(run_program(tmp_path, AGES, settings=Settings(start_ns=time.time_ns()))) == TOLD


@pytest.mark.parametrize("accelerator", ["", "off"])
def test_what_tells_times_is_otherwise_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accelerator: str
) -> None:
    monkeypatch.setenv("REPLAY_DD_ACCELERATOR", accelerator)
    run = run_program(tmp_path, KINDS, settings=Settings(start_ns=time.time_ns() - DAY_NS))
    assert output_of(run) == written_without_us(tmp_path)


def test_a_change_between_two_looks_is_seen(tmp_path: Path) -> None:
    """No real time passes between them, so the system alone might stamp both with the same tick."""
    run = run_program(tmp_path, WATCHER, settings=Settings(start_ns=time.time_ns()))
    assert output_of(run) == "['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']\n"


def test_modules_are_compiled_by_their_real_times(tmp_path: Path) -> None:
    """The import system compares them with those in the bytecode that it keeps, as do other processes later."""
    text = """
        import importlib.util, os, pathlib, sys, threading
        def load():
            pathlib.Path("made.py").write_text("number = 1")
            sys.path.insert(0, os.getcwd())
            sys.dont_write_bytecode = False
            import made
            kept = pathlib.Path(importlib.util.cache_from_source("made.py")).read_bytes()
            print(made.number, int.from_bytes(kept[8:12], "little"))
        thread = threading.Thread(target=load)
        thread.start(); thread.join()
        """
    run = run_program(tmp_path, text, settings=Settings(start_ns=time.time_ns() - DAY_NS))
    assert output_of(run) == f"1 {int((tmp_path / 'made.py').stat().st_mtime)}\n"


def test_the_real_clock_leaves_times_as_they_are(tmp_path: Path) -> None:
    text = """
        import os, pathlib, threading, time
        def look():
            pathlib.Path("made").write_text("")
            print(os.stat("made").st_mtime_ns)
        thread = threading.Thread(target=look)
        thread.start(); thread.join()
        """
    run = run_program(tmp_path, text, settings=Settings(real_clock=True, start_ns=time.time_ns() - DAY_NS))
    assert output_of(run) == f"{(tmp_path / 'made').stat().st_mtime_ns}\n"


def test_later_times_are_not_earlier_in_whatever_order_they_are_looked_at() -> None:
    began_ns = time.time_ns()
    clock = Clock(began_ns - DAY_NS)
    times = FileTimes(clock)
    real = []
    for _ in range(4):
        times.about_to_change()
        real += [time.time_ns() - 1, time.time_ns()]
        clock.now_ns += 1_000_000_000
    told = {one: times.virtual(one) for one in (real[4], real[0], real[2], real[1], real[7], real[5], real[6], real[3])}
    assert sorted(told.values()) == [told[one] for one in real]
    assert [times.virtual(one) for one in real] == [told[one] for one in real]


def test_readings_of_the_clock_add_up() -> None:
    """A program that looks at the clock for long without a sleep wants files that it makes then to be no older."""
    clock = Clock(time.time_ns() - DAY_NS)
    times = FileTimes(clock)
    clock.now_ns = 5_000_000
    times.about_to_change()
    assert times.virtual(time.time_ns()) == clock.start_ns + 5_000_000


def test_times_that_do_not_belong_to_the_run_stay() -> None:
    """Caches that outlive the run keep them, such as bytecode that pytest makes of a test that was edited."""
    began_ns = time.time_ns()
    clock = Clock(began_ns - DAY_NS)
    times = FileTimes(clock)
    for real_ns in (0, clock.start_ns - 1, clock.start_ns, began_ns - 1, began_ns + DAY_NS):
        assert times.virtual(real_ns) == real_ns


def test_short_jumps_count_too(tmp_path: Path) -> None:
    text = """
        import os, tempfile, threading, time
        def work():
            for number in range(30):
                time.sleep(0.01)
                before = time.time()
                path = os.path.join(folder, str(number))
                open(path, "w").close()
                ages.append(round(os.stat(path).st_mtime - before, 3) + 0.0)  # and not -0.0
        folder, ages = tempfile.mkdtemp(), []
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
        print(set(ages))
        """
    assert output_of(run_program(tmp_path, text, settings=Settings(start_ns=time.time_ns()))) == "{0.0}\n"


def test_who_only_asks_whether_a_file_is_there_has_not_looked_at_times(tmp_path: Path) -> None:
    """Who looks at them waits from then on."""
    text = """
        import os, pathlib, sys, threading, time
        (times,) = [module for name, module in sys.modules.items() if name.endswith("stdlib.file_times")]
        times._tick_after = lambda moment_ns: print("waits") or times._tick()
        times._WAITS_UNASKED = 0
        def work():
            path = pathlib.Path("made")
            def exists(path):
                return path.stat().st_mtime
            for look in (os.path.exists, pathlib.Path.is_file, os.path.islink, os.path.getsize, exists):
                path.write_text("")
                look(path)
                print(look.__name__)
                time.sleep(1)
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
        """
    names = ["exists", "is_file", "islink", "getsize", "exists"]
    assert output_of(run_program(tmp_path, text)).split() == [*names, "waits"]


def test_what_changes_after_a_look_is_later_and_what_changes_without_one_is_not(tmp_path: Path) -> None:
    """However much real time passes in between."""
    text = """
        import pathlib, tempfile, threading, time
        def work():
            for effort in (1, 3_000_000):
                folder = pathlib.Path(tempfile.mkdtemp())
                (folder / "a").write_text("")
                sum(range(effort))
                (folder / "b").write_text("")
                a, b, before = (path.stat().st_mtime for path in (folder / "a", folder / "b", folder))
                (folder / "c").write_text("")
                print(a == b, before < folder.stat().st_mtime <= time.time(), (folder / "c").stat().st_mtime > b)
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
        """
    run = run_program(tmp_path, text, settings=Settings(start_ns=time.time_ns()))
    assert output_of(run) == "True True True\n" * 2
    assert_same(run, replayed(run.log))


def test_functions_that_tell_times_can_be_sent_to_other_processes(tmp_path: Path) -> None:
    text = """
        import os, pickle, posix, threading
        thread = threading.Thread(target=print)
        thread.start(); thread.join()
        for name in ("stat", "lstat", "fstat", "utime"):
            function = getattr(os, name)
            print(function is getattr(posix, name), pickle.loads(pickle.dumps(function)) is not None, function.__name__)
        """
    run = run_program(tmp_path, text)
    assert output_of(run) == written_without_us(tmp_path)


def test_only_what_the_program_changes_makes_a_jump_wait(tmp_path: Path) -> None:
    """The runtime opens files of its own for each copy of a process."""
    text = """
        import pathlib, sys, threading, time
        (times,) = [module for name, module in sys.modules.items() if name.endswith("stdlib.file_times")]
        times._tick_after = lambda moment_ns: print("waits") or times._tick()
        def work():
            time.sleep(1)
            print("changes")
            pathlib.Path("made").write_text("")
            time.sleep(1)
            pathlib.Path("made").touch()
            time.sleep(1)
        thread = threading.Thread(target=work)
        thread.start(); thread.join()
        """
    assert forked_output(tmp_path, textwrap.dedent(text)) == [["changes", "waits", "waits"]] * 2


def test_that_a_file_was_read_is_no_change_that_was_looked_at() -> None:
    """Whether the system notes it depends on when the file was read before."""
    times = FileTimes(Clock(0))
    real = os.stat(__file__)
    told = {}
    for name in ("st_atime_ns", "st_mtime_ns"):
        fields = {further: getattr(real, further) for further in file_times._FURTHER} | {name: time.time_ns()}
        times.told(os.stat_result(real[:10], fields))
        told[name] = times._is_asked, times._is_looked_at
    assert told == {"st_atime_ns": (False, False), "st_mtime_ns": (True, True)}


def test_the_runtime_asks_the_system_for_what_it_wants_to_know_itself() -> None:
    """What stands in for the functions of `os` would take time in each copy, and count as a look of the program's."""
    folder = Path(file_times.__file__).parent.parent
    sources = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert [name for name, text in sources.items() if re.search(r"\bos\.(?:stat|lstat|fstat|utime)\(", text)] == []

"""What an observed run tells that no single instruction shows: made items, the library, the whole process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.story.words import described
from tests.runtime.programs import run_program, triggered

ALL = Plan(observed={"": (0, 1 << 62)})

PROGRAM = """
    import collections, contextlib, contextvars, functools, io, os, socket, sys, tempfile, threading, weakref

    class Group:
        def __init__(self):
            self.size = 0
        def grow(self):
            pass

    class Node:
        pass

    class Broken:
        def __init__(self):
            raise ValueError

    def make():
        return Group()

    groups = collections.defaultdict(make)
    broken = collections.defaultdict(Broken)
    trail = contextvars.ContextVar("trail", default=[])
    handlers, first, second = {}, [1], [2]

    def letters():
        yield "x"
        next(again)

    again = letters()

    def work():
        next(again)
        try:
            next(again)
        except ValueError:
            pass
        groups["a"].grow()
        groups["a"].grow()
        try:
            broken["b"]
        except ValueError:
            pass
        trail.get().append(1)
        handlers[groups["a"].grow] = 1
        first.extend(second)
        before = os.getcwd()
        os.mkdir("folder")
        os.chdir("folder")
        open("old", "w").close()
        os.rename("old", "new")
        os.chdir(before)
        os.umask(os.umask(0o77))
        with contextlib.redirect_stdout(io.StringIO()):
            print("hidden")
        for stream in (memory, temporary):
            stream.write("line")
            stream.close()
            try:
                stream.write("late")
            except ValueError:
                pass
        # Without a GIL, an object that another thread has made may live a little longer.
        global reference
        holder = [Node()]
        reference = weakref.ref(holder[0])
        if reference() is not None:
            holder[:] = []
            reference()
        near.send(b"data")
        near.close()
        try:
            near.send(b"late")
        except OSError:
            pass

        double(4)
        double(4)
        for letter in "ab":
            node = Node()
            known[letter] = node
        for _ in numbers:
            pass
        os.environ["PLACE"] = "here"
        os.getenv("PLACE")
        del os.environ["PLACE"]
        Single.made["x"] = 1
        if has_room(2):
            pass
        count(2)
        other = threading.Thread(target=print)
        sys._current_frames()
        other.start()
        threading.enumerate()
        other.join()

    @functools.lru_cache(maxsize=2)
    def double(number):
        return number + len(first)

    class Meta(type):
        made = {}

    class Single(metaclass=Meta):
        pass

    lock, taken, spare = threading.Lock(), 0, Group()

    def free(most):
        with lock:
            return taken + spare.size < most

    def has_room(most):
        return free(most)

    def count(most):
        lock, rest = None, most - taken
        return lock

    known = weakref.WeakValueDictionary()
    numbers = (number for number in range(2))
    memory, temporary = io.StringIO(), tempfile.TemporaryFile("w+")
    near, far = socket.socketpair()
    reference = None
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Access]:
    folder = tmp_path_factory.mktemp("work")
    run = run_program(folder, PROGRAM, ALL)
    assert run.log.ending.status == 0, run.output
    return [access for access in run.accesses.accesses if access.thread == "0.1"]


def told(seen: list[Access], name: str) -> list[tuple[str, str, str]]:
    """Of the accesses to what has this name: what they do, with the value before and after."""

    def text(value: object) -> str:
        return str(getattr(value, "text", "")) or str(getattr(value, "type", ""))

    return [(one.does, text(one.old), text(one.new)) for one in seen if one.name == name]


def test_an_item_that_a_factory_makes_is_stored_after_the_look(seen: list[Access]) -> None:
    assert told(seen, "groups['a']") == [
        ("reads", "nothing", "?"),
        ("stores", "nothing", "Group"),
        *[("reads", "Group", "?")] * 2,
    ]
    numbers = {one.name: one.number for one in seen if one.does == "stores"}
    assert numbers["Group.size"] < numbers["groups['a']"]


def test_a_memoised_function_looks_for_its_result_and_keeps_it(seen: list[Access]) -> None:
    assert told(seen, "double(4)") == [("reads", "nothing", "?"), ("stores", "nothing", "?"), ("reads", "?", "?")]


def test_an_item_whose_factory_fails_is_never_stored(seen: list[Access]) -> None:
    assert told(seen, "broken['b']") == [("reads", "nothing", "?")]


def test_what_a_call_gives_is_called_by_the_call(seen: list[Access]) -> None:
    assert ("calls", "[]", "list of 1") in told(seen, "trail.get()")


def test_a_context_variable_holds_nothing_where_it_was_not_set(seen: list[Access]) -> None:
    of_threads = [one for one in seen if one.thing[0] == "local"]
    assert told(of_threads, "trail") == [("reads", "nothing", "?")]


def test_a_method_is_a_key_by_its_object_and_name(seen: list[Access]) -> None:
    assert told(seen, "handlers[Group.grow]") == [("stores", "nothing", "1")]


def test_who_takes_all_of_a_container_reads_it(seen: list[Access]) -> None:
    assert ("reads", "list of 1", "?") in told(seen, "second")


def test_who_sets_the_mask_of_new_files_gets_the_one_before(seen: list[Access]) -> None:
    accesses = [one for one in seen if one.name == "the mask of new files"]
    assert [(one.does, one.reads, one.writes) for one in accesses] == [("stores", True, True)] * 2
    assert accesses[0].new.text == "63"


def test_the_working_directory_is_one_thing(seen: list[Access], tmp_path: Path) -> None:
    accesses = told(seen, "the working directory")
    own = accesses[0][1]
    stores = [one for one in accesses if one[0] == "stores"]
    assert stores == [("stores", own, "'folder'"), ("stores", "'folder'", own)]
    assert accesses.count(("reads", own, "?")) == 2  # to know it, and for the new folder
    assert accesses.count(("reads", "'folder'", "?")) == 2  # of what is opened and renamed by a relative path


def test_a_thread_that_starts_is_one_of_all_that_others_look_at(seen: list[Access]) -> None:
    accesses = [one for one in seen if one.name == "the running threads"]
    assert [(one.does, one.detail, one.old.text) for one in accesses] == [
        ("reads", "_current_frames()", "2"),
        ("stores", "", "nothing"),
        ("reads", "enumerate()", "3"),
    ]
    before, start, after = accesses
    assert start.touches(before)
    assert start.touches(after)
    assert described(start) == described(after) == "of the whole process"


def test_a_file_that_is_renamed_is_gone(seen: list[Access]) -> None:
    assert ("os.rename", "?", "nothing") in told(seen, "old")
    assert ("os.rename", "?", "?") in told(seen, "new")


def test_standard_output_is_replaced_and_put_back(seen: list[Access]) -> None:
    assert told(seen, "sys.stdout") == [
        ("stores", "TextIOWrapper", "StringIO"),
        ("reads", "StringIO", "?"),
        ("stores", "StringIO", "TextIOWrapper"),
    ]


def test_a_generator_that_runs_already_is_found_so(seen: list[Access]) -> None:
    calls = [one for one in seen if one.name == "again" and one.detail == "next()"]
    assert [one.old.is_missing for one in calls] == [False, False, True]
    assert all(one.reads and one.writes and one.holder_type == "generator" for one in calls)


def test_a_weak_reference_finds_its_object_until_that_is_gone(seen: list[Access]) -> None:
    calls = [one for one in seen if one.name == "reference()" and one.does == "reads"]
    assert [(one.old.type, one.old.is_missing, one.tested) for one in calls] == [
        ("Node", False, True),
        ("", True, False),
    ]
    assert all(one.is_weak and one.reads and not one.writes for one in calls)


def test_whoever_lets_go_of_what_is_known_weakly_takes_it_out(seen: list[Access]) -> None:
    last = [one for one in seen if one.name == "known['a']"][-1]
    assert (last.does, last.old.type, last.new.is_missing, last.is_weak) == ("deletes", "Node", True, True)
    # Python 3.12 joins the store into `node` with the load after it, and is there already.
    assert PROGRAM.splitlines()[last.place.line - 1].strip() in ("node = Node()", "known[letter] = node")


def test_a_loop_over_a_generator_asks_it_for_its_next(seen: list[Access]) -> None:
    calls = [one for one in seen if one.name == "numbers" and one.does == "calls"]
    assert [(one.detail, one.holder_type, one.reads and one.writes) for one in calls] == [
        ("next()", "generator", True)
    ] * 3


def test_the_environment_is_a_mapping(seen: list[Access]) -> None:
    assert told(seen, "os.environ['PLACE']") == [
        ("stores", "nothing", "'here'"),
        ("calls", "'here'", "?"),
        ("deletes", "'here'", "nothing"),
    ]


def test_what_a_class_has_of_its_metaclass_is_named_by_that(seen: list[Access]) -> None:
    assert told(seen, "Meta.made['x']") == [("stores", "nothing", "1")]


def test_what_is_returned_out_of_a_lock_may_decide_in_a_caller(seen: list[Access]) -> None:
    found = {one.place.function: one.tested for one in seen if one.name == "taken"}
    assert found == {"free": True, "count": False}


@pytest.mark.parametrize("name", ["memory", "temporary", "near"])
def test_what_was_closed_is_found_so(seen: list[Access], name: str) -> None:
    calls = [one for one in seen if one.holder_type in ("StringIO", "TextIOWrapper", "socket") and one.does == "calls"]
    kinds = {"memory": "StringIO", "temporary": "TextIOWrapper", "near": "socket"}
    told_of = [(one.detail, one.writes, one.old.is_missing) for one in calls if one.holder_type == kinds[name]]
    uses = "send()" if name == "near" else "write()"
    assert told_of == [(uses, True, False), ("close()", True, False), (uses, True, True)]


def test_what_a_transaction_did_is_there_when_its_block_ends(tmp_path: Path) -> None:
    text = """
        import sqlite3, threading
        def work():
            connection = sqlite3.connect(":memory:")
            connection.execute("CREATE TABLE told (word TEXT)")
            with connection:
                connection.execute("INSERT INTO told VALUES ('a')")
            connection.close()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    seen = run_program(tmp_path, text, ALL).accesses.accesses
    told = [(access.detail.partition("(")[0], access.writes) for access in seen if access.name == "the database"]
    assert told == [("execute", True), ("execute", True), ("commit", True)]


def test_a_cursor_of_the_program_is_one_of_the_library(tmp_path: Path) -> None:
    """As the one of Django."""
    text = """
        import sqlite3, threading
        class Cursor(sqlite3.Cursor):
            def execute(self, *arguments):
                return super().execute(*arguments)
        def work():
            connection = sqlite3.connect(":memory:")
            cursor = connection.cursor(Cursor)
            cursor.execute("CREATE TABLE told (word TEXT)")
            cursor.execute("SELECT word FROM told")
            cursor.execute("SELECT sqlite_version()")
            connection.close()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    seen = run_program(tmp_path, text, ALL).accesses.accesses
    assert [one.writes for one in seen if one.name == "the database"] == [True, False]


def test_the_end_of_a_transaction_may_be_a_statement_and_its_beginning_changes_nothing(tmp_path: Path) -> None:
    text = """
        import sqlite3, threading
        def work():
            connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.execute("BEGIN")
            connection.execute("COMMIT")
            connection.execute("begin")
            connection.execute(" rollback")
            connection.close()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    seen = run_program(tmp_path, text, ALL).accesses.accesses
    assert [one.writes for one in seen if one.name == "the database"] == [True, True]


def test_a_file_is_opened_by_nobody_but_who_opens_it(tmp_path: Path) -> None:
    text = """
        import threading
        lock = threading.Lock()
        def write():
            open("file", "w").close()
        def count():
            with lock:
                pass
        threads = [threading.Thread(target=target) for target in (write, count)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """
    openers = []
    for time in range(1, 12):
        run = run_program(tmp_path, text, replace(triggered(("0.1", time, "0.2")), observed=ALL.observed))
        openers += [access.thread for access in run.accesses.accesses if "file" in access.name]
    assert set(openers) == {"0.1"}

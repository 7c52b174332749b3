"""Nothing that looks at the program's objects runs the program's code, or keeps its objects alive."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from replay_dd.schedules.failures.signature import signature_of
from replay_dd.schedules.model import Settings
from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import output_of, run_command, run_program, write_program

PROFILE = Plan("profile")

# Every way in which an object can answer. `told` is what the program's own code has been asked.
TRAPS = """
    import threading, weakref

    told = []

    class Meta(type):
        __name__ = property(lambda cls: told.append("Meta.__name__"))
        __mro__ = property(lambda cls: told.append("Meta.__mro__"))
        __flags__ = property(lambda cls: told.append("Meta.__flags__"))
        def __getattribute__(cls, name):
            told.append("Meta " + name)
            return type.__getattribute__(cls, name)

    def answer(name):
        def method(self, *_):
            told.append(name)
            raise AssertionError(name)
        return method

    class Trap(metaclass=Meta):
        __dict__ = property(lambda self: told.append("__dict__") or {})
        __class__ = property(lambda self: told.append("__class__") or Trap)
        __getattr__, __eq__, __hash__ = answer("__getattr__"), answer("__eq__"), answer("__hash__")
        __repr__, __str__, __len__ = answer("__repr__"), answer("__str__"), answer("__len__")
        __bool__ = answer("__bool__")
        def __getattribute__(self, name):
            told.append("__getattribute__ " + name)
            return object.__getattribute__(self, name)
"""


def test_the_first_run_of_a_hunt_asks_objects_nothing(tmp_path: Path) -> None:
    text = """
    class Holder:
        pass

    trap = Trap()
    object.__setattr__(trap, "inner", Holder())
    object.__setattr__(object.__getattribute__(trap, "inner"), "count", 0)

    def work(trap):
        try:
            trap.inner.count += 1
        except AttributeError:
            pass
        if 1 in [trap.inner]:
            pass
        del told[:]
        local = trap
        if local is not None:
            holder.trap = local
            holder.trap.value = 1
        while told and told[0] == "__getattribute__ inner":
            del told[0]
        assert told == [], told

    holder = Holder()
    threads = [threading.Thread(target=work, args=(trap,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("asked", told)
    """
    for granularity in ("access", "line", "gil"):
        run = run_program(tmp_path, TRAPS + text, PROFILE, settings=Settings(granularity))
        assert output_of(run) == "asked []\n", granularity


def test_an_object_dies_when_it_would_without_us(tmp_path: Path) -> None:
    text = """
        import threading, weakref

        class Thing:
            value = 0

        def work():
            thing = Thing()
            thing.value += 1
            seen = weakref.ref(thing)
            kept = locals()
            other = 1
            del thing
            shared.value += 1
            kept.pop("thing", None)
            assert seen() is None, "something keeps it"
            assert "other" not in kept, "our look changed what locals() gave"

        shared = Thing()
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    assert output_of(run_program(tmp_path, text, PROFILE)) == ""


def test_a_module_that_loads_when_it_is_first_used_is_not_loaded(tmp_path: Path) -> None:
    write_program(tmp_path, "print('loaded')\nvalue = 1\n", "slow.py")
    text = """
        import importlib.util, sys, threading

        spec = importlib.util.find_spec("slow")
        loader = spec.loader = importlib.util.LazyLoader(spec.loader)
        slow = sys.modules["slow"] = importlib.util.module_from_spec(spec)
        loader.exec_module(slow)

        def work():
            global count
            count = 1
            here = slow
            if here is not None and count:
                things[0] = here

        things = [0]
        count = 0
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        import decimal
        print("used")
        slow.value
        """
    assert output_of(run_program(tmp_path, text, PROFILE)) == "used\nloaded\n"


def test_a_module_that_stands_in_for_one_of_the_library_is_left_alone(tmp_path: Path) -> None:
    text = """
        import sys, threading, types

        sys.modules["fcntl"] = fake = types.SimpleNamespace(__spec__=None)
        sys.modules["_queue"] = types.ModuleType("_queue")
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        import decimal
        print(sorted(vars(fake)))
        """
    assert output_of(run_program(tmp_path, text)) == "['__spec__']\n"


def test_threads_and_futures_that_answer_for_others(tmp_path: Path) -> None:
    text = """
        import concurrent.futures, threading

        class Proxy(threading.Thread):
            def __getattr__(self, name):
                return getattr(self._wrapped, name)

            def __setattr__(self, name, value):
                names.append(name)
                object.__setattr__(self, name, value)

        names = []
        thread = Proxy(target=print, args=("ran",))
        thread.start()
        thread.join()
        assert not [name for name in names if "replay" in name], names
        hash(thread)
        """
    assert output_of(run_program(tmp_path, text)) == "ran\n"


def test_paths_and_streams_that_answer(tmp_path: Path) -> None:
    text = """
    import os, socket, sys

    class Path(str):
        def startswith(self, *_):
            told.append("startswith")
        def __getitem__(self, index):
            told.append("__getitem__")
            return str.__getitem__(self, index)

    class Name:
        __class__ = property(lambda self: told.append("__class__") or Name)
        __str__ = __repr__ = lambda self: told.append("__str__") or ""
        def __fspath__(self):
            return "data"

    class Stream:
        def __init__(self, stream):
            self.stream = stream
        def write(self, text):
            self.stream.write(text)
        def flush(self):
            told.append("flush")

    class Socket(socket.socket):
        def __repr__(self):
            told.append("socket.__repr__")
            return ""
        def fileno(self):
            told.append("fileno")
            return socket.socket.fileno(self)

    sys.stdout = Stream(sys.stdout)
    with Socket() as bound:
        bound.bind(("127.0.0.1", 0))

    def work():
        open(Path("data"), "w").close()
        os.close(os.open(Name(), os.O_RDONLY))
        os.mkdir(Path("folder"))
        os.rename(Name(), Path("other"))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    sys.stdout = sys.stdout.stream
    print("asked", told)
    """
    for plan in (PROFILE, Plan()):
        run = run_program(tmp_path, TRAPS + text, plan)
        assert output_of(run) == "asked []\n", plan
        (tmp_path / "other").unlink()
        (tmp_path / "folder").rmdir()


def test_a_deadlock_of_objects_that_answer(tmp_path: Path) -> None:
    text = """
    class Queue(threading.Condition, metaclass=Meta):
        __dict__ = property(lambda self: told.append("__dict__") or {})
        __class__ = property(lambda self: told.append("__class__") or Queue)
        def __repr__(self):
            told.append("__repr__")
            return ""

    class Stream:
        def __init__(self, stream):
            self.stream = stream
        def write(self, text):
            self.stream.write(text)
        def flush(self):
            told.append("flush")

    import os, sys

    queue = Queue()
    sys.stdout = Stream(sys.stdout)

    def work():
        with queue:
            queue.wait()

    class Told(list):
        def append(self, name):
            os.write(2, ("asked " + name + "\\n").encode())

    thread = threading.Thread(target=work)
    thread.start()
    told = Told()
    thread.join()
    """
    run = run_program(tmp_path, TRAPS + text)
    waits = {waiter.thread: waiter.explanation for waiter in run.log.ending.deadlock}
    assert waits["0.1"].startswith("waits to be notified of the Queue made at prog.py:"), waits
    assert run.output == b""


@pytest.mark.parametrize("where", ["main", "thread"])
def test_the_text_of_an_exception_is_what_the_interpreter_wrote(tmp_path: Path, where: str) -> None:
    text = """
        import threading

        class Failure(Exception):
            def __str__(self):
                global asked
                asked += 1
                return f"asked {asked}"

        asked = 0

        def work():
            raise Failure

        thread = threading.Thread(target=work if WHERE == "thread" else lambda: None)
        thread.start()
        thread.join()
        if WHERE == "main":
            work()
        """.replace("WHERE", repr(where))
    run = run_program(tmp_path, text)
    assert run.output.rstrip().endswith(b"Failure: asked 1")
    assert [error.text for error in run.log.ending.exceptions] == ["asked 1"]
    assert signature_of(run.log.ending).text.startswith("Failure" if where == "main" else "Failure in thread 0.1")


def test_what_the_program_prints_of_an_exception_itself_is_not_asked_for(tmp_path: Path) -> None:
    text = """
        import sys, threading

        class Failure(Exception):
            def __str__(self):
                print("asked")
                return "text"

        def work():
            raise Failure

        threading.excepthook = lambda arguments: print("hook")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text)
    assert run.output == b"hook\n"
    assert [error.text for error in run.log.ending.exceptions] == [""]


def test_a_command_in_python_with_a_stand_in_for_standard_output(tmp_path: Path) -> None:
    run = run_command(tmp_path, (sys.executable, "-c", "raise SystemExit(type('Code', (int,), {})(3))"))
    assert run.log.ending.status == 3

"""What an observed run tells of values that each thread, or each task, has for itself."""

from __future__ import annotations

from pathlib import Path

from replay_dd.schedules.observed.observation import Access
from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import run_program

ALL = Plan(observed={"": (0, 1 << 62)})

LOCALS = """
    import threading

    class Derived(threading.local):
        mode = "plain"

    class Made(threading.local):
        def __init__(self):
            made.append(threading.current_thread().name)
            self.size = 0

    made = []
    own, derived, by_init = threading.local(), Derived(), Made()

    def work():
        own.user = "ann"
        getattr(own, "user", None)
        getattr(own, "missing", None)
        derived.mode
        derived.mode = "other"
        before = list(made)
        by_init.size = 1
        assert len(made) == len(before) + 1, made
        del own.user

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""

TASKS = """
    import asyncio, threading

    class Wallet:
        balance = 100

    wallet = Wallet()

    async def spend(amount):
        before = wallet.balance
        await asyncio.sleep(0.1)
        wallet.balance = before - amount

    async def main():
        await asyncio.gather(spend(1), spend(2))

    def work():
        wallet.balance = 100
        asyncio.run(main())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def accesses(program: str, folder: Path) -> list[Access]:
    run = run_program(folder, program, ALL)
    assert run.log.ending.exceptions == ()
    return list(run.accesses.accesses)


def test_each_thread_has_attributes_of_its_own_of_a_thread_local_object(tmp_path: Path) -> None:
    seen = [one for one in accesses(LOCALS, tmp_path) if one.thing[0] == "local"]
    first = [one for one in seen if one.thread == "0.1"]
    told = [(one.does, one.name, one.old.text) for one in first]
    assert told == [
        ("stores", "own.user", "nothing"),
        ("reads", "own.user", "'ann'"),
        ("reads", "own.missing", "nothing"),
        ("stores", "derived.mode", "nothing"),
        ("stores", "by_init.size", "?"),
        ("stores", "by_init.size", "nothing"),  # by `__init__`, before that
        ("deletes", "own.user", "'ann'"),
    ]
    assert first[0].new.text == "'ann'"
    second = [one for one in seen if one.thread == "0.2"]
    assert len(second) == len(first)
    assert not any(one.touches(other) for one in first for other in second)


def test_nothing_shared_is_seen_of_a_thread_local_object(tmp_path: Path) -> None:
    """To ask a derived class may run its ``__init__``: see test_accesses_made_locals.py."""
    names = {one.name for one in accesses(LOCALS, tmp_path) if one.thing[0] == "attribute"}
    assert not any(name.startswith(("Made.", "_local.")) for name in names)


def test_what_its_class_has_is_shared_by_all_threads(tmp_path: Path) -> None:
    of_class = [one for one in accesses(LOCALS, tmp_path) if one.name == "Derived.mode"]
    assert [(one.thread, one.does, one.old.text) for one in of_class] == [
        ("0.1", "reads", "'plain'"),
        ("0.2", "reads", "'plain'"),
    ]
    assert of_class[0].touches(of_class[1])


def test_the_tasks_of_an_event_loop_are_told_apart(tmp_path: Path) -> None:
    seen = [one for one in accesses(TASKS, tmp_path) if one.name == "Wallet.balance"]
    assert (seen[0].does, seen[0].task) == ("stores", 0), "no task makes it"
    tasks = [(one.does, one.task) for one in seen[1:]]
    one, other = tasks[0][1], tasks[1][1]
    assert one != other
    assert tasks == [("reads", one), ("reads", other), ("stores", one), ("stores", other)]


GENERATORS = """
    import random, threading

    own = random.Random(1)

    def work():
        own.seed(2)
        own.choice([1, 2])
        own.random()
        own.getstate()
        random.random()
        random.SystemRandom().random()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


def test_numbers_drawn_from_a_generator_of_the_program_are_told(tmp_path: Path) -> None:
    """All of a program may draw from that of the module; nobody expects to be alone there."""
    seen = [one for one in accesses(GENERATORS, tmp_path) if one.holder_type in ("Random", "SystemRandom")]
    told = [(one.name, one.detail.partition("(")[0], one.reads, one.writes) for one in seen if one.does == "calls"]
    assert told == [
        ("own", "seed", False, True),
        ("own", "choice", True, True),
        ("own", "random", True, True),
        ("own", "getstate", True, False),
    ]


def test_a_function_is_read_where_an_object_has_one_of_its_own(tmp_path: Path) -> None:
    """Whoever patches a method of one object puts the new one there; threads do not share that of the class."""
    text = """
        import threading

        class Door:
            def enter(self):
                pass

        door, other = Door(), Door()

        def work():
            other.enter()
            door.enter = door.enter
            door.enter()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text, ALL)
    assert run.log.ending.status == 0, run.output
    assert [one.does for one in run.accesses.accesses if one.name == "Door.enter"] == ["stores", "reads"]


def test_an_item_is_stored_once_the_program_has_told_the_hash_of_its_key(tmp_path: Path) -> None:
    """Another thread can run in between, and finds nothing there yet."""
    text = """
        import threading

        class Key:
            def __init__(self):
                self.size = 1
            def __hash__(self):
                return self.size
            def __eq__(self, other):
                return self is other

        class Broken(Key):
            def __hash__(self):
                raise ValueError

        key, broken, shelf = Key(), Broken(), {}

        def work():
            shelf[key] = "a"
            shelf[key] = "b"
            try:
                shelf[broken] = "c"
            except ValueError:
                pass
            key.size

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text, ALL)
    assert run.log.ending.status == 0, run.output
    told = [one for one in run.accesses.accesses if one.thread == "0.1" and one.name.startswith(("shelf[", "Key.size"))]
    stored = [("stores", "nothing", "'a'"), ("stores", "'a'", "'b'")]
    size = ("reads", "1", "?")
    assert [(one.does, one.old.text, one.new.text) for one in told] == [size, stored[0], size, stored[1], size]

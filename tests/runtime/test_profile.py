"""A profile is a run of the default schedule, with notes of what each thread touches."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay_dd.schedules.hunting.likely_preemptions import likely_preemptions
from replay_dd.schedules.model import Settings
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.running.target import Plan
from replay_dd.schedules.runtime.accelerator import accelerator
from replay_dd.schedules.runtime.channel import LOCK
from tests.runtime.programs import COUNTER, GRANULARITIES, run_program

PROFILE = Plan("profile")


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_it_is_the_default_schedule(tmp_path: Path, granularity: str) -> None:
    settings = Settings(granularity)
    profile = run_program(tmp_path, COUNTER, PROFILE, settings=settings).log
    default = run_program(tmp_path, COUNTER, settings=settings).log
    assert profile.ending.digest == default.ending.digest
    assert profile.triggers == default.triggers == ()
    assert profile.ending.thread_times == default.ending.thread_times


def things(touches: tuple[Touch, ...], name: str) -> set[int]:
    return {touch.thing[0] for touch in touches if touch.thing[1] == name}


@pytest.mark.parametrize("granularity", ["access", "line"])
def test_it_tells_what_threads_share(tmp_path: Path, granularity: str) -> None:
    run = run_program(tmp_path, COUNTER, PROFILE, settings=Settings(granularity))
    values = [touch for touch in run.touches if touch.thing[1] == "value"]
    assert {touch.thread for touch in values} >= {"0.1", "0.2", "0.3", "0.4"}
    assert len(things(run.touches, "value")) == 1
    assert {touch.changes for touch in values} == {True, False}
    first = next(likely_preemptions(run.touches))
    failed = run_program(tmp_path, COUNTER, Plan("replay", triggers=(first.trigger,)), settings=Settings(granularity))
    assert failed.output != run.output, "the most promising preemption loses an update"


def test_the_variables_of_a_module_are_the_same_wherever_they_are_touched(tmp_path: Path) -> None:
    (tmp_path / "state.py").write_text("served = 0\n\ndef add():\n    global served\n    served += 1\n")
    text = """
        import state, threading

        def work():
            state.served += 1

        threads = [threading.Thread(target=one) for one in (work, state.add)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    touches = run_program(tmp_path, text, PROFILE).touches
    assert {touch.thread for touch in touches if touch.thing[1] == "served"} == {"0.1", "0.2"}
    assert len(things(touches, "served")) == 1


def test_objects_that_follow_each_other_at_one_address_are_not_taken_for_one(tmp_path: Path) -> None:
    text = """
        import threading

        class Own:
            total = 0

        def work():
            own = Own()
            own.total += 1

        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    assert len(things(run.touches, "total")) == 2


@pytest.mark.skipif(accelerator is None, reason="no accelerator was compiled")
def test_lists_of_one_thread_each_are_not_taken_for_one(tmp_path: Path) -> None:
    text = """
        import threading

        def work():
            own = [0]
            own[0] += 1

        for _ in range(2):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    assert len(things([touch for touch in run.touches if touch.thread != "0"], "[]")) == 2


def test_the_locks_that_are_held(tmp_path: Path) -> None:
    text = """
        import threading

        one, two = threading.Lock(), threading.RLock()
        value = 0

        def work():
            global value
            with one:
                with two:
                    value = 1
                value = 2
            value = 3

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    held = [len(touch.held) for touch in run.touches if touch.thing[1] == "value" and touch.changes]
    assert held == [2, 1, 0]
    assert [len(touch.held) for touch in run.touches if touch.thing[1] == LOCK and touch.thread == "0.1"][:2] == [
        0,
        1,
    ]


def test_files_by_their_names(tmp_path: Path) -> None:
    text = """
        import os, threading

        def work():
            open("data", "a").close()
            with open("data") as file:
                file.read()
            os.rename("data", "moved")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    touched = [(Path(t.thing[1]).name, t.changes) for t in run.touches if str(tmp_path) in t.thing[1]]
    assert touched == [("data", True), ("data", False), ("data", True), ("moved", True)]


def test_questions_about_files_count_as_looks_at_them(tmp_path: Path) -> None:
    """No event of the interpreter announces them. Other methods of paths touch nothing."""
    text = """
        import os, pathlib, threading

        class Store:
            name = file = "data"

            def exists(self, name):
                return False

        def work(store):
            path = pathlib.Path("folder.old")
            path = path.with_suffix("")
            if not path.is_dir():
                path.mkdir()
            if not os.path.isfile(store.name):
                os.stat(path)
            store.exists(path)
            store.file

        thread = threading.Thread(target=work, args=(Store(),))
        thread.start()
        thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    touched = [(Path(t.thing[1]).name, t.changes) for t in run.touches if str(tmp_path) in t.thing[1]]
    assert touched == [("folder", False), ("folder", True), ("data", False), ("folder", False)]
    assert "[]" not in {t.thing[1] for t in run.touches if t.thread == "0.1"}


def test_a_thread_that_is_alone_shares_nothing(tmp_path: Path) -> None:
    text = """
        import threading

        value = 0

        def work():
            global value
            value = 1

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        value = 2
        """
    run = run_program(tmp_path, text, PROFILE)
    assert [touch.thread for touch in run.touches if touch.thing[1] == "value"] == ["0.1"]


def test_it_follows_triggers_and_orders_of_threads(tmp_path: Path) -> None:
    triggers = likely_preemptions(run_program(tmp_path, COUNTER, PROFILE).touches)
    first = (next(triggers).trigger,)
    followed = run_program(tmp_path, COUNTER, Plan("profile", triggers=first)).log
    assert followed.ending.digest == run_program(tmp_path, COUNTER, Plan("replay", triggers=first)).log.ending.digest
    text = """
        import threading

        order = []
        threads = [threading.Thread(target=order.append, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        order.append("main")
        for thread in threads:
            thread.join()
        print(*order)
        """
    latest = run_program(tmp_path, text, Plan("profile", {"latest_first": 1}))
    assert latest.output == b"main 2 1 0\n"
    again = run_program(tmp_path, text, Plan("replay", triggers=latest.log.triggers))
    assert again.log.ending.digest == latest.log.ending.digest


def test_without_sleeps_each_thread_goes_on_unless_it_would_for_ever(tmp_path: Path) -> None:
    text = """
        import threading, time

        done, order = [], []

        def work(number):
            for _ in range(20):
                time.sleep(0.001)
            order.append(number)

        def wait():
            while not done:
                time.sleep(0.001)
            order.append("waited")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        threads += [threading.Thread(target=wait), threading.Thread(target=done.append, args=(1,))]
        for thread in threads:
            thread.start()
        order.append("main")
        for thread in threads:
            thread.join()
        print(*order)
        """
    run = run_program(tmp_path, text, Plan("profile", {"no_sleep": 1}))
    assert run.output == b"main 0 1 2 waited\n"
    again = run_program(tmp_path, text, Plan("replay", triggers=run.log.triggers))
    assert again.log.ending.digest == run.log.ending.digest


def test_where_another_thread_could_have_gone_on(tmp_path: Path) -> None:
    text = """
        import threading, time

        threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    assert ("0.1", "0.1") in {(one.thread, one.to) for one in run.alternatives}, "its sleep could end early"


def test_who_can_go_on_again_is_told_when_that_is_so(tmp_path: Path) -> None:
    text = """
        import threading, time

        lock = threading.Lock()
        value = 0

        def first():
            with lock:
                time.sleep(0.5)
            return value

        def second():
            with lock:
                pass

        threads = [threading.Thread(target=work) for work in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    assert [one.thread for one in run.alternatives if one.to == "0.2" and not one.forced] == ["0", "0.1"]


LONG_LOOPS = """
    import threading

    class Counter:
        value = 0

    def work(counter):
        for _ in range(30_000):
            counter.value += 1
        once()
        for _ in range(2_000):
            counter.value += 1

    def once():
        global value
        value = -1

    value = 0
    threads = [threading.Thread(target=work, args=(Counter(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    """


def test_of_a_long_run_each_place_is_noted_and_few_visits_of_loops(tmp_path: Path) -> None:
    run = run_program(tmp_path, LONG_LOOPS, PROFILE)
    changes = [touch for touch in run.touches if touch.thing[1] == "value" and touch.changes]
    assert run.log.ending.global_time > 190_000
    by_place: dict[tuple[str, int], list[int]] = {}
    for touch in changes:
        by_place.setdefault((touch.thread, touch.place), []).append(touch.time)
    assert [len(times) for times in by_place.values()].count(1) == 2, "what each thread does once"
    assert max(len(times) for times in by_place.values()) == 16, "the first three, then the 4th to the 16,384th"


def test_after_many_notes_the_visits_of_all_threads_count_together(tmp_path: Path) -> None:
    text = """
        import threading

        total = 0

        def work(number):
            global total
            for _ in range(4):
                total += number
                total += number
                total += number
                total += number
                total += number

        def last():
            global total
            total = 0

        for number in range(1_500):
            thread = threading.Thread(target=work, args=(number,))
            thread.start()
            thread.join()
        thread = threading.Thread(target=last)
        thread.start()
        last()
        thread.join()
        """
    run = run_program(tmp_path, text, PROFILE)
    totals = [touch for touch in run.touches if touch.thing[1] == "total"]
    assert 40_000 < len(totals) < 50_000 < run.log.ending.global_time
    assert {touch.thread for touch in totals if touch.thread in ("0", "0.1501")} == {"0", "0.1501"}, "what comes last"


def test_who_goes_through_the_dictionary_of_all_attributes_touches_each(tmp_path: Path) -> None:
    text = """
        import threading

        class Point:
            def __init__(self):
                self.x, self.y = 1, 2

        point, other = Point(), {"a": 1}

        def look():
            [value for _, value in vars(point).items()]
            for _, value in other.items():
                pass

        def change():
            point.__dict__.update(x=3)

        threads = [threading.Thread(target=one) for one in (look, change)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    touches = run_program(tmp_path, text, PROFILE).touches
    for name in ("x", "y"):
        told = {(touch.thread, touch.changes) for touch in touches if touch.thing[1] == name and touch.thread != "0"}
        assert told == {("0.1", False), ("0.2", True)}
        assert len(things(touches, name)) == 1
    assert not things(touches, "a")

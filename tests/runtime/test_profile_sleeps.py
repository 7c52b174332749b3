"""What a profile does with sleeps and timers: who is let in, and who stays asleep."""

from __future__ import annotations

from pathlib import Path

from replay_dd.schedules.hunting.likely_preemptions import likely_preemptions
from replay_dd.schedules.model import Trigger
from replay_dd.schedules.observed.touches import Touch
from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import run_program

PROFILE = Plan("profile")


TIMER = """
    import threading, time

    class Call:
        def __init__(self):
            self.timer = None
            self.words = []

        def make(self):
            self.timer = timer = threading.Timer(0.01, self.late)
            timer.start()
            self.words.append("hello")
            self.words.append("bye")
            timer.cancel()

        def late(self):
            self.words.append("late")

    call = Call()
    thread = threading.Thread(target=call.make)
    thread.start()
    thread.join()
    print(*call.words)
    """


def before_the_second_word(touches: tuple[Touch, ...]) -> int:
    """The thread time at which the caller adds to its list again."""
    mine = [touch for touch in touches if touch.thread == "0.1"]
    last = max(number for number, touch in enumerate(mine) if touch.thing[1] == "words")
    return next(touch.time for touch in mine[last:] if touch.thing[1] == "[]")


def test_a_timer_that_is_cancelled_in_time_could_have_come_before(tmp_path: Path) -> None:
    run = run_program(tmp_path, TIMER, PROFILE)
    assert run.output == b"hello bye\n"
    assert ("0.1", "0.1.1") in {(one.thread, one.to) for one in run.alternatives}
    second = before_the_second_word(run.touches)
    taken_over = [one.trigger for one in likely_preemptions(run.touches, run.alternatives)]
    assert Trigger("0.1", second, "0.1.1") in taken_over
    early = run_program(tmp_path, TIMER, Plan("profile", triggers=(Trigger("0.1", second, "0.1.1"),)))
    assert early.output == b"hello late bye\n"
    again = run_program(tmp_path, TIMER, Plan("replay", triggers=early.log.triggers))
    assert again.log.ending.digest == early.log.ending.digest
    assert len(early.log.triggers) == 2, "the preemption, and the end of the time-out"


def test_who_has_changed_something_before_it_sleeps_stays_asleep(tmp_path: Path) -> None:
    text = TIMER.replace("threading.Timer(0.01, self.late)", "threading.Thread(target=self.late)")
    text = text.replace("timer.cancel()", "timer.join()").replace("def late(self):", "def late(self, change=True):")
    for change, output in ((True, b"hello soon bye late\n"), (False, b"hello late bye\n")):
        before = 'if change: self.words.append("soon")\n            time.sleep(0.01)'
        program = text.replace('self.words.append("late")', f'{before}; self.words.append("late")')
        program = program.replace("change=True", f"change={change}")
        run = run_program(tmp_path, program, PROFILE)
        second = before_the_second_word(run.touches)
        early = run_program(tmp_path, program, Plan("profile", triggers=(Trigger("0.1", second, "0.1.1"),)))
        assert early.output == output


def test_who_is_let_in_and_waits_for_another_thread_sleeps_in_the_end(tmp_path: Path) -> None:
    text = """
        import threading

        class Sweeper:
            def __init__(self):
                self.ends = threading.Event()

            def run(self):
                while not self.ends.wait(0.01):
                    pass

            def end(self):
                self.ends.set()

        sweeper = Sweeper()
        threads = [threading.Thread(target=target) for target in (sweeper.run, sweeper.end)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    early = run_program(tmp_path, text, Plan("profile", triggers=(Trigger("0.2", 1, "0.1"),)))
    assert early.log.triggers[0] == Trigger("0.2", 1, "0.1")
    assert early.log.ending.complete
    assert early.log.ending.thread_times["0.1"] < 100


def test_random_priorities_take_a_sleep_for_a_step(tmp_path: Path) -> None:
    text = """
        import threading, time

        order = []

        def late():
            time.sleep(0.01)
            order.append("late")

        threads = [threading.Thread(target=late), threading.Thread(target=order.append, args=("soon",))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(*order)
        """
    plans = [Plan("pct", {"seed": seed, "depth": 1}, {}) for seed in range(8)]
    outputs = {run_program(tmp_path, text, plan).output for plan in plans}
    assert outputs == {b"late soon\n", b"soon late\n"}


def test_random_priorities_let_others_run_while_a_thread_polls(tmp_path: Path) -> None:
    text = """
        import threading, time

        done = []

        def poll():
            while not done:
                time.sleep(0.01)

        threads = [threading.Thread(target=poll), threading.Thread(target=done.append, args=(1,))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        """
    for seed in range(4):
        run = run_program(tmp_path, text, Plan("pct", {"seed": seed, "depth": 1}, {}))
        assert run.log.ending.complete
        assert run.log.ending.thread_times["0.1"] < 100

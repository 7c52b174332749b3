"""Which locks a thread has where it touches something: those that it took and still uses, each once."""

from __future__ import annotations

from pathlib import Path

from replay_dd.schedules.running.target import Plan
from tests.runtime.programs import run_program


def test_locks_that_were_left_behind_and_ones_taken_again_are_not_held_more_often(tmp_path: Path) -> None:
    text = """
        import threading

        class Shared:
            value = 0

        shared, condition, lock = Shared(), threading.Condition(), threading.RLock()

        def work():
            shared.value += 1

        thread = threading.Thread(target=work)
        thread.start()
        with lock:
            for _ in range(4):
                with condition:
                    condition.wait(0)  # makes a lock, and takes it
                with lock:
                    pass
            shared.value += 1
        thread.join()
        """
    touches = run_program(tmp_path, text, Plan("profile")).touches
    held = [touch.held for touch in touches if touch.thing[1] == "value" and touch.changes and touch.thread == "0"]
    assert [len(locks) for locks in held] == [1]

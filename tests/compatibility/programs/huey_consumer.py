"""A consumer with two worker threads and a scheduler runs tasks, some of them later, some of them again."""

import logging

from huey import MemoryHuey
from huey.exceptions import TaskException

logging.getLogger("huey").setLevel(logging.CRITICAL)
queue = MemoryHuey()
attempts = []


@queue.task()
def add(left: int, right: int) -> int:
    return left + right


@queue.task(retries=2, retry_delay=1)
def fail_twice() -> str:
    attempts.append(1)
    if len(attempts) < 3:
        raise ValueError("not yet")
    return "at last"


@queue.lock_task("one-at-a-time")
def alone() -> None:
    pass


consumer = queue.create_consumer(workers=2, worker_type="thread", periodic=False, initial_delay=0.1)
consumer.start()
results = [add(number, number) for number in range(4)]
later = add.schedule((20, 22), delay=5)
flaky = fail_twice()
assert [result.get(blocking=True, timeout=60) for result in results] == [0, 2, 4, 6]
assert later.get(blocking=True, timeout=60) == 42
answer = None
while answer is None:
    try:
        answer = flaky.get(blocking=True, timeout=60)
    except TaskException:
        flaky.reset()
assert (answer, len(attempts)) == ("at last", 3)
consumer.stop(graceful=True)

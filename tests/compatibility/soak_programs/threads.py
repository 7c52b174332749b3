"""Threads with a pool, a queue, locks, timers and a file; what one of them counts depends on the schedule."""

import queue
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

jobs: "queue.Queue[int | None]" = queue.Queue(3)
lock, done = threading.Lock(), threading.Event()
counted = {"unlocked": 0, "locked": 0}


def consume() -> None:
    while (number := jobs.get()) is not None:
        before = counted["unlocked"]
        with lock:
            counted["locked"] += number
        counted["unlocked"] = before + number


def square(number: int) -> int:
    time.sleep(0.01)
    with tempfile.TemporaryFile() as file:
        return file.write(b"x" * number)


consumers = [threading.Thread(target=consume) for _ in range(3)]
for consumer in consumers:
    consumer.start()
with ThreadPoolExecutor(2) as pool:
    for size in pool.map(square, range(20)):
        jobs.put(size)
threading.Timer(0.5, done.set).start()
assert done.wait(5)
for _ in consumers:
    jobs.put(None)
for consumer in consumers:
    consumer.join()
assert counted["locked"] == sum(range(20))
print(counted["unlocked"] == counted["locked"])

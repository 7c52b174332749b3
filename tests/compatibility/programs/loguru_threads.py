"""Threads log to one sink."""

import threading

from loguru import logger

lines: "list[str]" = []
logger.remove()
logger.add(lambda message: lines.append(message.record["message"]), format="{message}")


def work(number: int) -> None:
    for step in range(3):
        logger.bind(number=number).info("{} {}", number, step)


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
logger.complete()
assert sorted(lines) == [f"{number} {step}" for number in range(3) for step in range(3)]

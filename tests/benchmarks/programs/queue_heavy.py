"""Queue-heavy: one thread puts numbers into a `queue.Queue(16)`, another takes them out and adds them up."""

import queue
import sys
import threading


def produce(numbers, rounds):
    for number in range(rounds):
        numbers.put(number)
    numbers.put(None)


def consume(numbers, totals):
    total = 0
    while (number := numbers.get()) is not None:
        total += number
    totals.append(total)


numbers = queue.Queue(16)
totals = []
rounds = int(sys.argv[1])
threads = [
    threading.Thread(target=produce, args=(numbers, rounds)),
    threading.Thread(target=consume, args=(numbers, totals)),
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert totals == [rounds * (rounds - 1) // 2]

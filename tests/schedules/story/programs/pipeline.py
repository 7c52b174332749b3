"""A consumer stops when the queue is empty, although the producer is not done."""

import queue
import threading


def producer(jobs):
    for number in range(3):
        jobs.put(number)


def consumer(jobs, results):
    while not jobs.empty():
        results.append(jobs.get() * 2)


def main():
    jobs = queue.Queue()
    results = []
    make = threading.Thread(target=producer, args=(jobs,))
    take = threading.Thread(target=consumer, args=(jobs, results))
    make.start()
    take.start()
    make.join()
    take.join()
    assert results == [0, 2, 4], results


main()

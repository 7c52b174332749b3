"""Workers that ask whether the queue is empty and then take from it."""

import queue
import threading


class Work:
    def __init__(self, jobs):
        self.jobs = queue.Queue()
        for job in jobs:
            self.jobs.put(job)
        self.done = []


def make():
    return Work(range(5))


def work(shared):
    while not shared.jobs.empty():
        job = shared.jobs.get()
        shared.done.append(job * job)
        shared.jobs.task_done()


WORKERS = (work, work)


def holds(shared):
    return len(shared.done) == 5


def tell(shared):
    return f"done {shared.done}"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

"""A queue of jobs that wakes a worker only when it was empty before."""

import threading


class Jobs:
    def __init__(self):
        self.changed = threading.Condition()
        self.jobs = []
        self.done = []

    def put(self, job):
        with self.changed:
            self.jobs.append(job)
            if len(self.jobs) == 1:
                self.changed.notify()

    def get(self):
        with self.changed:
            while not self.jobs:
                self.changed.wait()
            return self.jobs.pop(0)


def make():
    return Jobs()


def produce(jobs):
    for number in range(4):
        jobs.put(f"job {number}")


def consume(jobs):
    for _ in range(2):
        jobs.done.append(jobs.get())


WORKERS = (produce, consume, consume)


def holds(jobs):
    return len(jobs.done) == 4


def tell(jobs):
    return f"done {jobs.done}, left {jobs.jobs}"


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

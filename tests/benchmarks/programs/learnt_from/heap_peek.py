"""A schedule whose first job is looked at and then taken off."""

import heapq
import threading


class Schedule:
    def __init__(self):
        self.heap = []
        self.lock = threading.Lock()
        self.now = 3
        self.done = []

    def add(self, when, job):
        with self.lock:
            heapq.heappush(self.heap, (when, job))

    def first(self):
        with self.lock:
            return self.heap[0] if self.heap else None

    def pop(self):
        with self.lock:
            return heapq.heappop(self.heap)

    def run_due(self):
        while True:
            entry = self.first()
            if entry is None or entry[0] > self.now:
                return
            _when, job = self.pop()
            self.done.append(job)


def make():
    schedule = Schedule()
    for when, job in ((1, "mail"), (3, "backup"), (7, "report"), (9, "purge")):
        schedule.add(when, job)
    return schedule


def work(schedule):
    schedule.run_due()


WORKERS = (work, work)


def holds(schedule):
    return sorted(schedule.done) == ["backup", "mail"]


def tell(schedule):
    return f"done at {schedule.now}: {schedule.done}"


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

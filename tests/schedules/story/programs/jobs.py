"""A worker drains a list of jobs: `while jobs: jobs.pop()` in two threads."""

import collections
import threading


class Jobs:
    def __init__(self, names):
        self._waiting = collections.deque(names)
        self.done = set()

    def run(self):
        while len(self._waiting) > 0:
            name = self._waiting.popleft()
            self.finish(name)

    def finish(self, name):
        self.done.add(name)


def main():
    jobs = Jobs(["a", "b", "c"])
    threads = [threading.Thread(target=jobs.run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert jobs.done == {"a", "b", "c"}, jobs.done


main()

"""A thief that takes from the other end of a worker's jobs."""

import threading


class Jobs:
    def __init__(self, names):
        self.names = names
        self.top = 0
        self.bottom = len(names)
        self.stealing = threading.Lock()
        self.done = []

    def take(self):
        if self.top >= self.bottom:
            return None
        self.bottom = self.place_before(self.bottom)
        return self.names[self.bottom]

    def place_before(self, place):
        return max(0, place - 1)

    def steal(self):
        with self.stealing:
            if self.top >= self.bottom:
                return None
            name = self.names[self.top]
            self.top += 1
            return name


def make():
    return Jobs([f"job {number}" for number in range(5)])


def own(jobs):
    for _ in range(5):
        name = jobs.take()
        if name is not None:
            jobs.done.append(name)


def thief(jobs):
    for _ in range(2):
        name = jobs.steal()
        if name is not None:
            jobs.done.append(name)


WORKERS = (own, thief)


def holds(jobs):
    return len(jobs.done) == len(set(jobs.done)) == 5


def tell(jobs):
    return f"done {jobs.done}"


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

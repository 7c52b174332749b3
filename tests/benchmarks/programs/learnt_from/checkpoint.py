"""A long sum that notes after every step how far it is, to go on from there."""

import threading


class Job:
    def __init__(self):
        self.lock = threading.Lock()
        self.done = 0
        self.total = 0
        self.saved = (0, 0)
        self.broken = []

    def add(self, amount):
        with self.lock:
            self.total += amount
        with self.lock:
            self.done += 1

    def save(self):
        with self.lock:
            self.saved = (self.done, self.total)
            if self.total != 10 * self.done:
                self.broken.append(self.saved)


def parse(text):
    amount = 0
    for digit in text:
        amount = amount * 10 + int(digit)
    return amount


def make():
    return Job()


def step(job):
    for text in ("10", "010"):
        amount = parse(text)
        job.add(amount)
    job.save()


WORKERS = (step, step)


def holds(job):
    return not job.broken


def tell(job):
    return f"saved {job.broken}"


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

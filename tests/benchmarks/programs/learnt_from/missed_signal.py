"""A download whose waiter looks at the flag before it takes the condition."""

import threading


class Download:
    def __init__(self):
        self.finished = threading.Condition()
        self.done = False
        self.data = None

    def wait(self):
        if not self.done:
            with self.finished:
                self.finished.wait()
        return self.data

    def fetch(self):
        parts = []
        for number in range(3):
            parts.append(f"part {number}")
        self.data = ", ".join(parts)
        self.done = True
        with self.finished:
            self.finished.notify_all()


class Job:
    def __init__(self):
        self.download = Download()
        self.got = None


def make():
    return Job()


def reader(job):
    job.got = job.download.wait()


def fetcher(job):
    job.download.fetch()


WORKERS = (reader, fetcher)


def holds(job):
    return job.got == "part 0, part 1, part 2"


def tell(job):
    return f"got {job.got!r}"


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

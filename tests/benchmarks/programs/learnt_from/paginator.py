"""Records that come page by page from an iterator, which three threads work off."""

import threading

PAGES = (("a", "b", "c", "d"), ("e", "f", "g"), ("h", "i", "j", "k"))


class Records:
    def __init__(self):
        self.lock = threading.Lock()
        self.page = 0
        self.buffer = []

    def __iter__(self):
        return self

    def __next__(self):
        with self.lock:
            if not self.buffer:
                if self.page == len(PAGES):
                    raise StopIteration
                self.buffer.extend(PAGES[self.page])
                self.page += 1
        return self.buffer.pop(0)


class Import:
    def __init__(self):
        self.records = Records()
        self.done = []
        self.finished = 0
        self.lock = threading.Lock()


def make():
    return Import()


def work(job):
    for record in job.records:
        job.done.append(record)
    with job.lock:
        job.finished += 1


WORKERS = (work, work, work)


def holds(job):
    return job.finished == 3 and len(job.done) == 11


def tell(job):
    return f"done {job.done}, finished {job.finished}"


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

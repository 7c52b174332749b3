"""Jobs in the background, and a table of those that run, for a page that shows them."""

import threading
import time

FETCHING = 0.005


class Jobs:
    def __init__(self):
        self.lock = threading.Lock()
        self.running = {}
        self.results = {}

    def start(self, name, numbers):
        thread = threading.Thread(target=self.run, args=(name, numbers))
        thread.start()
        with self.lock:
            self.running[name] = thread
        return thread

    def run(self, name, numbers):
        try:
            time.sleep(FETCHING)
            total = sum(number * number for number in numbers)
            with self.lock:
                self.results[name] = total
        finally:
            with self.lock:
                self.running.pop(name, None)

    def page(self):
        with self.lock:
            return sorted(self.running)


def make():
    return Jobs()


def user(name, *numbers):
    def run(jobs):
        thread = jobs.start(name, numbers)
        jobs.page()
        thread.join()

    return run


WORKERS = (user("january", *range(4)), user("february", *range(5)))


def holds(jobs):
    return not jobs.running and len(jobs.results) == 2


def tell(jobs):
    return f"shown as running {sorted(jobs.running)}, results {jobs.results}"


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

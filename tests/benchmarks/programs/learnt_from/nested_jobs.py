"""A small pool of two threads for jobs on pictures; an album is a job that has its pictures made by the pool."""

import queue
import threading
from concurrent.futures import Future

POOL = 2
CLIENTS = 2


class Pool:
    def __init__(self):
        self.jobs = queue.Queue()
        self.lock = threading.Lock()
        self.clients = CLIENTS

    def submit(self, function, *arguments):
        future = Future()
        self.jobs.put((future, function, arguments))
        return future

    def work(self):
        while True:
            job = self.jobs.get()
            if job is None:
                return
            future, function, arguments = job
            future.set_result(function(*arguments))

    def leave(self):
        with self.lock:
            self.clients -= 1
            last = self.clients == 0
        if last:
            for _ in range(POOL):
                self.jobs.put(None)


class Studio:
    def __init__(self):
        self.pool = Pool()
        self.made = []

    def picture(self, name):
        return f"{name}.png"

    def album(self, *names):
        futures = [self.pool.submit(self.picture, name) for name in names]
        return [future.result() for future in futures]


def make():
    return Studio()


def pool_thread(studio):
    studio.pool.work()


def summer(studio):
    studio.made.append(studio.pool.submit(studio.album, "sea", "sun").result())
    studio.made.append(studio.pool.submit(studio.picture, "sand").result())
    studio.pool.leave()


def winter(studio):
    for name in ("ice", "fog", "elk"):
        studio.made.append(studio.pool.submit(studio.picture, name).result())
    studio.made.append(studio.pool.submit(studio.album, "snow", "moon").result())
    studio.pool.leave()


WORKERS = (pool_thread, pool_thread, summer, winter)


def holds(studio):
    return len(studio.made) == 6


def tell(studio):
    return f"made {studio.made}"


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

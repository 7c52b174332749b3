"""A dispatcher that may take a job after it closed."""

import collections
import threading


class Dispatcher:
    def __init__(self):
        self.waiting = collections.deque()
        self.wake = threading.Condition()
        self.open = True
        self.accepted = 0
        self.finished = 0

    def submit(self, job):
        if not self.open:
            return False
        with self.wake:
            self.waiting.append(job)
            self.accepted += 1
            self.wake.notify()
        return True

    def close(self):
        with self.wake:
            self.open = False
            self.wake.notify_all()

    def run(self):
        while True:
            with self.wake:
                while not self.waiting and self.open:
                    self.wake.wait()
                if not self.waiting:
                    return
                job = self.waiting.popleft()
            job()
            with self.wake:
                self.finished += 1


def make():
    return Dispatcher()


def work(dispatcher):
    dispatcher.run()


def submit(dispatcher):
    for _ in range(2):
        dispatcher.submit(lambda: None)


def close(dispatcher):
    dispatcher.close()


WORKERS = (work, submit, close)


def holds(dispatcher):
    return dispatcher.accepted == dispatcher.finished


def tell(dispatcher):
    return f"{dispatcher.accepted} accepted, {dispatcher.finished} finished"


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

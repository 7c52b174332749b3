"""Jobs that take two of three permits each, one after the other."""

import threading


class Machines:
    def __init__(self, count):
        self.permits = threading.Semaphore(count)
        self.lock = threading.Lock()
        self.made = []

    def produce(self, name, needs):
        for _ in range(needs):
            self.permits.acquire()
        with self.lock:
            self.made.append(name)
        for _ in range(needs):
            self.permits.release()


def make():
    return Machines(3)


def job(name):
    def run(machines):
        machines.produce(name, 2)

    return run


WORKERS = (job("chair"), job("table"), job("shelf"))


def holds(machines):
    return len(machines.made) == 3


def tell(machines):
    return f"made {machines.made}"


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

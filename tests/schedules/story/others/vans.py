"""A depot hires vans up to a limit; who keeps its lock a little longer lets the others all come with one answer."""

import threading


class Depot:
    def __init__(self, limit):
        self.limit = limit
        self.hired = 0
        self.guard = threading.Lock()
        self.free = []

    def hire(self):
        if self.free:
            return self.free.pop()
        if self.hired >= self.limit:
            return None
        with self.guard:
            self.hired += 1
        return "van"


def deliver(depot):
    van = depot.hire()
    if van is not None:
        depot.free.append(van)


def main():
    depot = Depot(2)
    threads = [threading.Thread(target=deliver, args=(depot,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert depot.hired <= 2, f"{depot.hired} vans"


main()

"""A watchdog that gives the alarm when a worker has not fed it for more than two ticks."""

import threading


class Watchdog:
    def __init__(self):
        self.now = 0
        self.fed = 0
        self.alarms = []

    def tick(self):
        self.now += 1

    def feed(self):
        self.fed = self.now

    def look(self):
        fed = self.fed
        late = self.now - fed
        if late > 2:
            self.alarms.append(late)


def make():
    return Watchdog()


def work(dog):
    for _ in range(5):
        dog.tick()
        dog.feed()


def watch(dog):
    dog.look()
    dog.look()


WORKERS = (work, watch)


def holds(dog):
    return not dog.alarms


def tell(dog):
    return f"alarms {dog.alarms}"


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

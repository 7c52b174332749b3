"""Calls limited to two in each period; the first call of a period sets the count back."""

import threading


class Limiter:
    def __init__(self, limit):
        self.limit = limit
        self.lock = threading.Lock()
        self.period = 0
        self.used = limit

    def start(self, period):
        with self.lock:
            self.period = period
            self.used = 0

    def allow(self, now):
        period = now // 10
        if period != self.period:
            self.start(period)
        with self.lock:
            if self.used < self.limit:
                self.used += 1
                return True
            return False


class Api:
    def __init__(self):
        self.limiter = Limiter(2)
        self.served = []

    def call(self, name, now):
        if self.limiter.allow(now):
            self.served.append((name, now))


def make():
    return Api()


def caller(name):
    def run(api):
        for now in (11, 12):
            api.call(name, now)

    return run


WORKERS = (caller("app"), caller("site"))


def holds(api):
    return len(api.served) == 2


def tell(api):
    return f"served {api.served}"


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

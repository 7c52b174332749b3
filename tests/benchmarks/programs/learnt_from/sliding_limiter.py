"""At most five calls in any minute."""

import threading
from concurrent.futures import ThreadPoolExecutor

LIMIT = 5
MINUTE = 60


class Limiter:
    def __init__(self):
        self.lock = threading.Lock()
        self.calls = [10, 25, 95, 96]
        self.allowed = 0

    def forget_old(self, now):
        if self.calls and now - self.calls[0] >= MINUTE:
            recent = []
            for call in self.calls:
                if now - call < MINUTE:
                    recent.append(call)
            self.calls = recent

    def allow(self, now):
        self.forget_old(now)
        with self.lock:
            if len(self.calls) >= LIMIT:
                return False
            self.calls.append(now)
            self.allowed += 1
            return True


def make():
    return Limiter()


def call(limiter):
    for now in (100, 101):
        limiter.allow(now)


WORKERS = (call, call, call, call)


def holds(limiter):
    return limiter.allowed <= 3


def tell(limiter):
    return f"allowed {limiter.allowed}, calls {limiter.calls}"


def main():
    shared = make()
    with ThreadPoolExecutor(len(WORKERS)) as pool:
        futures = [pool.submit(worker, shared) for worker in WORKERS]
        for future in futures:
            future.result()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

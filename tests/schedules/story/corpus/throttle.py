"""Workers fetch pages; a throttle counts how many requests are left in this period."""

import threading
import time


class QuotaExceeded(Exception):
    pass


class Throttle:
    def __init__(self, limit, period=60.0):
        self.limit = limit
        self.period = period
        self._remaining = limit
        self._reset_at = time.monotonic() + period

    def _refresh(self):
        now = time.monotonic()
        if now >= self._reset_at:
            self._remaining = self.limit
            self._reset_at = now + self.period

    def acquire(self, cost=1):
        self._refresh()
        left = self._remaining - self._weight(cost)
        if left < 0:
            raise QuotaExceeded(cost)
        self._remaining = left

    def _weight(self, cost):
        return max(cost, 1)

    @property
    def remaining(self):
        return self._remaining


class Crawler:
    def __init__(self, throttle):
        self.throttle = throttle
        self.pages = []

    def fetch(self, urls):
        for url in urls:
            self.throttle.acquire()
            self.pages.append(f"<html>{url}</html>")


def main():
    throttle = Throttle(limit=10)
    crawler = Crawler(throttle)
    sites = [["/a", "/b"], ["/c"], ["/d"]]
    threads = [
        threading.Thread(target=crawler.fetch, args=(urls,), name=f"crawler-{i}") for i, urls in enumerate(sites)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used = throttle.limit - throttle.remaining
    assert used == len(crawler.pages), f"{used} requests counted, {len(crawler.pages)} made"


if __name__ == "__main__":
    main()

"""Four threads use caches that share a lock, one of them with a time to live."""

import threading
import time

import cachetools
from cachetools import func, keys


def main() -> None:
    lock, calls = threading.RLock(), []
    least = cachetools.LRUCache(maxsize=4)
    passing = cachetools.TTLCache(maxsize=100, ttl=5)

    @cachetools.cached(least, key=keys.typedkey, lock=lock)
    def square(number: int) -> int:
        calls.append(number)
        time.sleep(0.001)
        return number * number

    @cachetools.cached(passing, lock=lock)
    def slow(number: int) -> int:
        time.sleep(1)
        return -number

    @func.lru_cache(maxsize=3)
    def third(number: int) -> int:
        return 3 * number

    def work(start: int) -> None:
        for step in range(12):
            number = (start + step) % 6
            assert square(number) == number * number
            assert slow(number % 2) == -(number % 2)
            assert third(number) == 3 * number
            with lock:
                assert len(least) <= 4

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    information = third.cache_info()
    assert information.hits + information.misses == 48, information
    assert len(calls) >= 6
    time.sleep(6)
    with lock:
        passing.expire()
        assert not passing


main()

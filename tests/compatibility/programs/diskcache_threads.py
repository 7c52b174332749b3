"""Threads count in a cache on disk, in transactions and with its own locks."""

import tempfile
import threading

import diskcache


def work(number: int) -> None:
    for step in range(2):
        with lock:
            cache["total"] = cache["total"] + 1
        cache.incr("sum", number)
        with cache.transact():
            cache.set((number, step), step, expire=60)
    cache.close()


with tempfile.TemporaryDirectory() as folder:
    cache = diskcache.Cache(folder)
    lock = diskcache.Lock(cache, "lock")
    cache["total"] = 0
    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (cache["total"], cache["sum"], len(cache)) == (6, 12, 8), (cache["total"], cache["sum"], len(cache))
    cache.close()

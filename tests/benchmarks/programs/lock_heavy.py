"""Lock-heavy: two threads; in each round `with lock:` around two updates, then a little local arithmetic."""

import sys
import threading


class Store:
    def __init__(self):
        self.lock = threading.Lock()
        self.items = {}
        self.puts = 0


def work(store, rounds, seed):
    value = seed
    for _ in range(rounds):
        value = (value * 1103515245 + 12345) % 2147483648
        with store.lock:
            store.items[value & 63] = value
            store.puts += 1


store = Store()
rounds = int(sys.argv[1])
threads = [threading.Thread(target=work, args=(store, rounds, seed)) for seed in (1, 2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert store.puts == 2 * rounds

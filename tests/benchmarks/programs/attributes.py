"""The worst case: two threads that do nothing but update attributes; nearly every instruction is a yield point."""

import sys
import threading


class Counters:
    def __init__(self):
        self.one = 0
        self.two = 0


def work(counters, rounds):
    for _ in range(rounds):
        counters.one += 1
        counters.two += counters.one


counters = Counters()
threads = [threading.Thread(target=work, args=(counters, int(sys.argv[1]))) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

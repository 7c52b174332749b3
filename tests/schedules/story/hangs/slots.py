"""Cursors that give their slot back when they are forgotten, under the lock that hands slots out."""

import threading


class Slots:
    def __init__(self):
        self.guard = threading.Lock()
        self.left = 5

    def take(self):
        with self.guard:
            self.left -= 1
            return Cursor(self)

    def give(self):
        with self.guard:
            self.left += 1


class Cursor:
    def __init__(self, slots):
        self.slots = slots
        self.first = self

    def __del__(self):
        self.slots.give()


def work():
    for _ in range(2):
        slots.take()


slots = Slots()
worker = threading.Thread(target=work)
worker.start()
worker.join()

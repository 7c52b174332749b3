"""A handler of a signal that takes its own lock twice; who was interrupted has nothing to do with it."""

import os
import signal
import threading


class Journal:
    def __init__(self):
        self.guard = threading.Lock()
        self.lines = []

    def write(self, line):
        with self.guard:
            self.lines.append(line)

    def stops(self, number, frame):
        with self.guard:
            self.write("stopped")


journal = Journal()
signal.signal(signal.SIGHUP, journal.stops)
operator = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGHUP))
operator.start()
operator.join()

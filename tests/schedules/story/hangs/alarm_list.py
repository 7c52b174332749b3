"""A thread that takes its lock twice, and a handler of a signal that waits for the same lock."""

import os
import signal
import threading


class Alarms:
    def __init__(self):
        self.guard = threading.Lock()
        self.found = []

    def rings(self, number, frame):
        with self.guard:
            self.found.append(number)

    def count(self):
        with self.guard:
            return len(self.found)

    def report(self):
        with self.guard:
            os.kill(os.getpid(), signal.SIGHUP)
            return f"{self.count()} alarms"


alarms = Alarms()
signal.signal(signal.SIGHUP, alarms.rings)
reporter = threading.Thread(target=alarms.report)
reporter.start()
reporter.join()

"""A visit ends some time after it was last renewed: a timer ends it."""

import threading
import time


class Visit:
    def __init__(self):
        self.over = False
        self.timer = threading.Timer(0.05, self.end)
        self.timer.start()

    def renew(self):
        if self.over:
            return False
        self.timer.cancel()
        self.timer = threading.Timer(0.05, self.end)
        self.timer.start()
        return True

    def end(self):
        self.over = True

    def close(self):
        self.timer.cancel()
        self.timer.join()


def main():
    visit = Visit()
    time.sleep(0.05)
    renewed = visit.renew()
    over = visit.over
    visit.close()
    assert not (renewed and over), "renewed, and over"


main()

"""A waiter misses the notification, because it looks at the flag before it takes the lock."""

import threading


class Doorbell:
    def __init__(self):
        self._condition = threading.Condition()
        self._rung = False

    def ring(self):
        self._rung = True
        with self._condition:
            self._condition.notify_all()

    def wait(self):
        if not self._rung:
            with self._condition:
                self._condition.wait()


def main():
    bell = Doorbell()
    waiter = threading.Thread(target=bell.wait)
    ringer = threading.Thread(target=bell.ring)
    waiter.start()
    ringer.start()
    ringer.join()
    waiter.join()


main()

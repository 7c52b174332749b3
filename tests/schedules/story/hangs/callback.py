"""A timer service that calls back under its lock; the callback may be cancelling under its own."""

import threading


class Timers:
    def __init__(self):
        self._lock = threading.Lock()
        self._calls = {}
        self._next = 0

    def add(self, call):
        with self._lock:
            self._next += 1
            self._calls[self._next] = call
            return self._next

    def cancel(self, number):
        with self._lock:
            self._calls.pop(number, None)

    def fire(self):
        with self._lock:
            for number in sorted(self._calls):
                self._calls[number]()


class Session:
    def __init__(self, timers):
        self.timers = timers
        self.state = threading.Lock()
        self.open = True
        self.timer = timers.add(self.on_time)

    def on_time(self):
        with self.state:
            self.open = False

    def close(self):
        with self.state:
            self.open = False
            self.timers.cancel(self.timer)


def main():
    timers = Timers()
    session = Session(timers)
    clock = threading.Thread(target=timers.fire, name="clock")
    clock.start()
    session.close()
    clock.join()
    print("closed")


main()

"""Tests replace the clock of the application for a while."""

import threading


class Clock:
    def __init__(self, hour):
        self.hour = hour


class Application:
    clock = Clock(12)

    def greeting(self):
        return "good morning" if self.clock.hour < 12 else "good day"


class frozen:
    def __init__(self, hour):
        self.hour = hour

    def __enter__(self):
        self.saved = Application.clock
        Application.clock = Clock(self.hour)

    def __exit__(self, *_):
        Application.clock = self.saved


def check(hour):
    with frozen(hour):
        Application().greeting()


def main():
    before = Application.clock
    checks = [threading.Thread(target=check, args=(hour,)) for hour in (8, 20)]
    for one in checks:
        one.start()
    for one in checks:
        one.join()
    assert Application.clock is before, f"it is {Application.clock.hour} o'clock for ever"


if __name__ == "__main__":
    main()

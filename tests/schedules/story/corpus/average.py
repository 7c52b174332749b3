"""Measurements are summed up under a lock; a display shows their mean."""

import threading


class Meter:
    def __init__(self):
        self._lock = threading.Lock()
        self._sum = 0.0
        self._count = 0

    def add(self, value):
        with self._lock:
            self._sum += value
            self._count += 1

    def sum(self):
        with self._lock:
            return self._sum

    def count(self):
        with self._lock:
            return self._count


class Display:
    def __init__(self, meter):
        self.meter = meter
        self.shown = []

    def refresh(self):
        total = self.meter.sum()
        count = self.meter.count()
        self.shown.append(total / count)


def main():
    meter = Meter()
    meter.add(5.0)
    display = Display(meter)
    feeder = threading.Thread(target=meter.add, args=(5.0,))
    painter = threading.Thread(target=display.refresh)
    feeder.start()
    painter.start()
    feeder.join()
    painter.join()
    assert display.shown == [5.0], display.shown


if __name__ == "__main__":
    main()

"""Asks a weather service; if it takes too long, an older forecast is used."""

import queue
import threading


class Forecast:
    def __init__(self):
        self.inbox = queue.Queue()
        self.last_known = None

    def request(self):
        worker = threading.Thread(target=self._ask, daemon=False)
        worker.start()
        return worker

    def _ask(self):
        measured = [self._station(number) for number in range(3)]
        self.inbox.put(sum(measured) / len(measured))

    def _station(self, number):
        return 18 + number

    def degrees(self, timeout):
        try:
            self.last_known = self.inbox.get(timeout=timeout)
        except queue.Empty:
            return self.last_known
        return self.last_known


def main():
    forecast = Forecast()
    worker = forecast.request()
    degrees = forecast.degrees(timeout=0.05)
    worker.join()
    assert round(degrees) == 19


if __name__ == "__main__":
    main()

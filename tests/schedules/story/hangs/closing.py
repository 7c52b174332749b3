"""A service that joins its worker while it holds the lock that the worker needs to end."""

import threading


class Service:
    def __init__(self):
        self._lock = threading.Lock()
        self._running = False
        self._worker = threading.Thread(target=self._work, name="worker")
        self.log = []

    def start(self):
        self._running = True
        self._worker.start()

    def _work(self):
        for number in range(3):
            if not self._running:
                break
            self._note(number)

    def _note(self, number):
        with self._lock:
            self.log.append(number)

    def stop(self):
        with self._lock:
            self._running = False
            self._worker.join()


def main():
    service = Service()
    service.start()
    service.stop()
    print("stopped after", len(service.log))


main()

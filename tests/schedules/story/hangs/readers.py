"""A readers-writer lock that counts its readers outside of its condition."""

import threading


class RWLock:
    def __init__(self):
        self._cond = threading.Condition()
        self._readers = 0
        self._writing = False

    def acquire_read(self):
        with self._cond:
            while self._writing:
                self._cond.wait()
        self._readers += 1

    def release_read(self):
        with self._cond:
            self._readers -= 1
            if not self._readers:
                self._cond.notify_all()

    def acquire_write(self):
        with self._cond:
            while self._writing or self._readers:
                self._cond.wait()
            self._writing = True

    def release_write(self):
        with self._cond:
            self._writing = False
            self._cond.notify_all()


class Prices:
    def __init__(self):
        self.lock = RWLock()
        self.net = 100
        self.gross = 119

    def update(self, net):
        self.lock.acquire_write()
        try:
            self.net = net
            self.gross = net * 119 // 100
        finally:
            self.lock.release_write()

    def pair(self):
        self.lock.acquire_read()
        try:
            return self.net, self.gross
        finally:
            self.lock.release_read()


def reader(prices, seen):
    for _ in range(2):
        seen.append(prices.pair())


def main():
    prices = Prices()
    seen = []
    threads = [threading.Thread(target=reader, args=(prices, seen)) for _ in range(2)]
    threads.append(threading.Thread(target=prices.update, args=(200,)))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for net, gross in seen:
        assert gross == net * 119 // 100, f"net {net} with gross {gross}"


if __name__ == "__main__":
    main()

"""A price table with a lock for many readers or one writer."""

import threading


class ReadersWriterLock:
    def __init__(self):
        self.mutex = threading.Lock()
        self.readers = 0
        self.unread = threading.Event()
        self.unread.set()
        self.writing = threading.Lock()

    def acquire_read(self):
        with self.writing:
            pass
        with self.mutex:
            self.readers += 1
            self.unread.clear()

    def release_read(self):
        with self.mutex:
            self.readers -= 1
            if self.readers == 0:
                self.unread.set()

    def acquire_write(self):
        self.writing.acquire()
        self.unread.wait()


class Prices:
    def __init__(self):
        self.lock = ReadersWriterLock()
        self.bid, self.ask = 99, 101

    def shift(self):
        self.lock.acquire_write()
        self.bid += 50
        self.ask += 50
        self.lock.writing.release()

    def spread(self):
        self.lock.acquire_read()
        spread = self.ask - self.bid
        self.lock.release_read()
        return spread


def main():
    prices = Prices()
    spreads = []
    threads = [
        threading.Thread(target=lambda: spreads.append(prices.spread())),
        threading.Thread(target=prices.shift),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spreads == [2], spreads


main()

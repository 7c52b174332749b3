"""A printer thread sleeps until there are pages, then prints them all."""

import collections
import threading


class Printer:
    def __init__(self):
        self.pages = collections.deque()
        self.printed = []
        self._work = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start(self):
        self._thread.start()

    def submit(self, page):
        self.pages.append(page)
        self._work.set()

    def _run(self):
        while True:
            self._work.wait()
            while self.pages:
                page = self.pages.popleft()
                if page is None:
                    return
                self.printed.append(page)
            self._work.clear()

    def stop(self):
        self.submit(None)
        self._thread.join()


def main():
    printer = Printer()
    printer.start()
    printer.submit("page 1")
    printer.submit("page 2")
    printer.stop()
    assert printer.printed == ["page 1", "page 2"]


if __name__ == "__main__":
    main()

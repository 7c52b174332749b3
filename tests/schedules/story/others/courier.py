"""A courier takes letters from a queue until it is told to go home."""

import contextlib
import queue
import threading


class Courier:
    def __init__(self):
        self.letters = queue.Queue()
        self.home = threading.Event()
        self.brought = []
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.home.is_set():
            with contextlib.suppress(queue.Empty):
                self.brought.append(self.letters.get(timeout=1))

    def go_home(self):
        self.home.set()
        self.thread.join()


def main():
    courier = Courier()
    courier.letters.put("to Ada")
    courier.go_home()
    assert courier.brought == ["to Ada"], courier.brought


main()

"""A clerk waits for the reminder that is due next; by then an earlier one may lie on top."""

import heapq
import threading
import time


class Clerk:
    def __init__(self):
        self.desk = []
        self.guard = threading.Lock()
        self.told = []

    def remind(self, minutes, text):
        with self.guard:
            heapq.heappush(self.desk, (minutes, text))

    def next(self):
        with self.guard:
            return self.desk[0] if self.desk else None

    def work(self):
        for _ in range(2):
            while (reminder := self.next()) is None:
                time.sleep(0.5)
            minutes, text = reminder
            time.sleep(minutes)
            with self.guard:
                heapq.heappop(self.desk)
            self.told.append(text)


def main():
    clerk = Clerk()
    thread = threading.Thread(target=clerk.work)
    thread.start()
    clerk.remind(5, "tea")
    clerk.remind(1, "call")
    thread.join()
    assert sorted(clerk.told) == ["call", "tea"], clerk.told


main()

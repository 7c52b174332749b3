"""A caller waits a second for an answer; then it takes it for lost and waits for the worker to confirm the end."""

import threading
import time


class Call:
    def __init__(self):
        self.answered = threading.Event()
        self.cancelled = threading.Event()
        self.ended = threading.Event()

    def work(self):
        time.sleep(0.05)
        self.answered.set()
        if self.cancelled.is_set():
            self.ended.set()

    def ask(self):
        if not self.answered.wait(0.06):
            self.cancelled.set()
            self.ended.wait()
            return "cancelled"
        return "answered"


def main():
    call = Call()
    worker = threading.Thread(target=call.work)
    worker.start()
    print(call.ask())
    worker.join()


main()

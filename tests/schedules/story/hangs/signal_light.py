"""A worker that clears the event after its round, and may wipe out a request that came meanwhile."""

import threading


class Worker:
    def __init__(self):
        self.wanted = threading.Event()
        self.requests = []
        self.handled = 0

    def request(self, text):
        self.requests.append(text)
        self.wanted.set()

    def run(self, rounds):
        while self.handled < rounds:
            self.wanted.wait()
            while self.requests:
                self.requests.pop(0)
                self.handled += 1
            self.wanted.clear()


def main():
    worker = Worker()
    thread = threading.Thread(target=worker.run, args=(2,))
    thread.start()
    for text in ("one", "two"):
        worker.request(text)
    thread.join()
    print("handled", worker.handled)


main()

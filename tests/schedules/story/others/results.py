"""A worker says that it has finished, and stores its result only then."""

import threading


class Job:
    def __init__(self, text):
        self.text = text
        self.finished = threading.Event()
        self.results = []

    def run(self):
        words = self.text.split()
        self.finished.set()
        self.results.append(len(words))

    def result(self):
        self.finished.wait()
        return self.results[0]


def main():
    job = Job("to be or not to be")
    worker = threading.Thread(target=job.run)
    worker.start()
    assert job.result() == 6
    worker.join()


main()

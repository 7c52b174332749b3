"""A journal writes its records in a thread of its own; closing it waits for that thread."""

import queue
import threading

_STOP = object()


class Journal:
    def __init__(self):
        self._queue = queue.Queue()
        self.written = []
        self._writer = threading.Thread(target=self._drain)
        self._writer.start()

    def record(self, text):
        self._queue.put(self._line(text))

    def _line(self, text):
        return text + "\n"

    def _drain(self):
        while True:
            line = self._queue.get()
            if line is _STOP:
                return
            self.written.append(line)

    def close(self):
        self._queue.put(_STOP)
        self._writer.join()


class Worker:
    def __init__(self, journal, name):
        self.journal = journal
        self.name = name
        self.thread = threading.Thread(target=self.work)

    def work(self):
        self.journal.record(f"{self.name} began")
        self.journal.record(f"{self.name} ended")


def main():
    journal = Journal()
    worker = Worker(journal, "mill")
    worker.thread.start()
    journal.close()
    worker.thread.join()
    assert journal.written == ["mill began\n", "mill ended\n"], journal.written


if __name__ == "__main__":
    main()

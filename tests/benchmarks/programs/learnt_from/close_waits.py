"""A log written by a thread of its own, which closing waits for."""

import queue
import threading


class Log:
    def __init__(self):
        self.lock = threading.Lock()
        self.queue = queue.Queue()
        self.done = threading.Event()
        self.closed = False
        self.written = []

    def write_all(self):
        while True:
            line = self.queue.get()
            if line is not None:
                with self.lock:
                    self.written.append(line)
            self.queue.task_done()
            if line is None:
                break
        self.done.set()

    def log(self, line):
        if not self.closed:
            self.queue.put(line)

    def close(self):
        self.queue.join()
        with self.lock:
            if not self.closed:
                self.closed = True
                self.queue.put(None)
                self.done.wait()


def make():
    return Log()


def writer(log):
    log.write_all()


def application(log):
    for number in range(3):
        log.log(f"line {number}")


def close(log):
    log.close()


WORKERS = (writer, application, close)


def holds(log):
    return log.closed and log.done.is_set()


def tell(log):
    return f"written {log.written}, closed {log.closed}"


def main():
    shared = make()
    threads = [threading.Thread(target=worker, args=(shared,)) for worker in WORKERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

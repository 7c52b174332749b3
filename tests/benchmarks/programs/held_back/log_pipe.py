"""Lines of a log go through a pipe to a helper process, until the log is closed."""

import subprocess
import threading


class Log:
    def __init__(self):
        self.helper = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.lock = threading.Lock()
        self.open = True
        self.lines = 0
        self.late = []

    def write(self, line):
        if not self.open:
            self.late.append(line)
            return
        with self.lock:
            self.helper.stdin.write(f"{line}\n".encode())
            self.lines += 1

    def close(self):
        with self.lock:
            self.open = False
            self.helper.stdin.close()
        self.helper.wait()


def make():
    return Log()


def part(*lines):
    def run(log):
        for line in lines:
            log.write(line)

    return run


def stop(log):
    log.close()


WORKERS = (part("ready", "request served"), part("disk checked"), stop)


def holds(log):
    return log.lines + len(log.late) == 3


def tell(log):
    return f"{log.lines} lines, late {log.late}"


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

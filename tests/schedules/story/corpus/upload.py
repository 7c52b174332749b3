"""An upload is aborted by a timer if it has not finished in time."""

import threading


class Upload:
    def __init__(self, name, size):
        self.name = name
        self.size = size
        self.sent = 0
        self.state = "running"
        self.log = []
        self._timer = threading.Timer(0.01, self._expire)

    def start(self):
        self._timer.start()

    def send(self, chunk):
        self.sent += len(chunk)
        if self.sent >= self.size:
            self.finish()

    def finish(self):
        if self.state == "running":
            self.note("finished")
            self.state = "finished"
        self._timer.cancel()

    def _expire(self):
        if self.state == "running":
            self.note("aborted")
            self.state = "aborted"

    def note(self, what):
        self.log.append(f"{self.name} {what}")


def main():
    upload = Upload("report.pdf", 4)
    upload.start()
    for chunk in (b"ab", b"cd"):
        upload.send(chunk)
    upload._timer.join()
    assert len(upload.log) == 1, upload.log


if __name__ == "__main__":
    main()

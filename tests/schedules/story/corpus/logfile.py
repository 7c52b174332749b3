"""A log file that is rotated while threads write to it."""

import os
import shutil
import tempfile
import threading


class RotatingLog:
    def __init__(self, folder):
        self.folder = folder
        self.number = 0
        self._stream = self._open()

    def _open(self):
        return open(os.path.join(self.folder, f"{self.number}.log"), "a")

    def _format(self, text):
        return f"{text}\n"

    def write(self, text):
        stream = self._stream
        line = self._format(text)
        stream.write(line)

    def rotate(self):
        self._stream.close()
        self.number += 1
        self._stream = self._open()

    def close(self):
        self._stream.close()


def main():
    folder = tempfile.mkdtemp()
    log = RotatingLog(folder)
    log.write("started")
    threads = [threading.Thread(target=log.write, args=("working",)), threading.Thread(target=log.rotate)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

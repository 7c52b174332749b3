"""A download in parts; a progress bar asks how far it is."""

import threading


class Progress:
    def __init__(self, parts):
        self.parts = parts
        self.finished = 0
        self.percent = 0

    def step(self):
        self.finished += 1
        self.percent = self.compute()

    def compute(self):
        return round(100 * self.finished / self.parts)


class Bar:
    def __init__(self, progress):
        self.progress = progress
        self.lines = []

    def draw(self):
        parts = self.progress.finished
        percent = self.progress.percent
        self.lines.append((parts, percent))


def download(progress):
    for _ in range(progress.parts):
        progress.step()


def main():
    progress = Progress(4)
    bar = Bar(progress)
    threads = [threading.Thread(target=download, args=(progress,)), threading.Thread(target=bar.draw)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for parts, percent in bar.lines:
        assert percent == 25 * parts, f"{parts} of 4 parts are {percent} %"


if __name__ == "__main__":
    main()

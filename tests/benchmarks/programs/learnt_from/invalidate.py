"""A report kept until its figures change."""

import threading


class Report:
    def __init__(self, figures):
        self.figures = figures
        self._kept = None

    def summary(self):
        if self._kept is None:
            self._kept = {"sum": sum(self.figures), "most": max(self.figures)}
        return self._kept

    def mean(self):
        if self._kept is None:
            self.summary()
        count = len(self.figures)
        return self._kept["sum"] / count

    def add(self, figure):
        self.figures.append(figure)
        self._kept = None


def make():
    return Report([3, 5, 7])


def show(report):
    for _ in range(2):
        report.summary()
        report.mean()


def enter(report):
    for figure in (9, 11):
        report.add(figure)


WORKERS = (show, enter)


def holds(report):
    return len(report.figures) == 5


def tell(report):
    return f"figures {report.figures}"


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

"""A report whose file is opened with the first line that somebody writes."""

import threading


class Disk:
    def __init__(self):
        self.files = {}

    def open_for_writing(self, name):
        self.files[name] = []
        return self.files[name]


class Report:
    def __init__(self, disk):
        self.disk = disk
        self.out = None
        self.lines = 0

    def write(self, text):
        if self.out is None:
            self.out = self.disk.open_for_writing("report")
        self.out.append(text)


class Office:
    def __init__(self):
        self.disk = Disk()
        self.report = Report(self.disk)


def make():
    return Office()


def clerk(name):
    def run(office):
        for number in (1, 2):
            office.report.write(f"{name} {number}")

    return run


WORKERS = (clerk("sales"), clerk("stock"))


def holds(office):
    return sorted(office.disk.files["report"]) == ["sales 1", "sales 2", "stock 1", "stock 2"]


def tell(office):
    return f"report {office.disk.files['report']}"


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

"""A clerk hands letters to two printers, and counts them when all are done."""

import queue
import threading


class Office:
    def __init__(self):
        self.waiting = queue.Queue()
        self.printed = []
        self.counted = None

    def render(self, name):
        return f"Dear {name},"

    def print_letters(self):
        while True:
            name = self.waiting.get()
            self.waiting.task_done()
            if name is None:
                break
            self.printed.append(self.render(name))

    def send(self, names):
        for name in names:
            self.waiting.put(name)
        self.waiting.join()
        self.counted = len(self.printed)
        for _ in range(2):
            self.waiting.put(None)


def make():
    return Office()


def clerk(office):
    office.send(["Ms Abt", "Mr Berg", "Ms Cole", "Mr Dorn", "Ms Ehm"])


def printer(office):
    office.print_letters()


WORKERS = (clerk, printer, printer)


def holds(office):
    return office.counted == 5


def tell(office):
    return f"counted {office.counted}, printed {len(office.printed)}"


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

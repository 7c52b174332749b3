"""Two printers and one store of paper, shared by those who print and by those who fill it up."""

import threading


class Paper:
    def __init__(self, sheets):
        self.lock = threading.Lock()
        self.sheets = sheets

    def take(self, count):
        with self.lock:
            self.sheets -= count


class PrintRoom:
    def __init__(self):
        self.printers = threading.BoundedSemaphore(2)
        self.paper = Paper(20)
        self.lock = threading.Lock()
        self.printed = []

    def log(self, text):
        with self.lock:
            self.printed.append(text)

    def print(self, name, pages):
        with self.printers:
            self.paper.take(pages)
            self.log(f"{name}: {pages} pages")

    def refill(self, count):
        with self.paper.lock:
            self.paper.sheets += count
            with self.printers:
                self.paper.sheets -= 1
                self.log("test page")


def make():
    return PrintRoom()


def author(name, *jobs):
    def run(room):
        for pages in jobs:
            room.print(name, pages)

    return run


def keeper(room):
    room.refill(100)


WORKERS = (author("rita", 3, 2), keeper, author("saul", 4, 1), author("vera", 5))


def holds(room):
    return len(room.printed) == 6 and room.paper.sheets == 104


def tell(room):
    return f"printed {room.printed}, sheets {room.paper.sheets}"


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

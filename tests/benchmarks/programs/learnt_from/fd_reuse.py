"""Open files known by the smallest free number, and a log that is written by its number."""

import threading


class Table:
    def __init__(self):
        self.lock = threading.Lock()
        self.open_files = {0: "keyboard"}
        self.content = {}

    def open(self, name):
        with self.lock:
            number = 0
            while number in self.open_files:
                number += 1
            self.open_files[number] = name
            self.content.setdefault(name, [])
            return number

    def close(self, number):
        with self.lock:
            del self.open_files[number]

    def write(self, number, text):
        with self.lock:
            if number not in self.open_files:
                return False
            self.content[self.open_files[number]].append(text)
            return True


class Program:
    def __init__(self):
        self.table = Table()
        self.log = self.table.open("log")
        self.lost = 0

    def note(self, text):
        number = self.log
        if not self.table.write(number, text):
            self.lost += 1

    def export(self):
        number = self.log
        self.log = -1
        self.table.close(number)
        photo = self.table.open("photo")
        self.table.write(photo, "pixels")
        self.log = self.table.open("log")


def make():
    return Program()


def note(program):
    program.note("started")
    program.note("ready")


def export(program):
    program.export()


WORKERS = (note, export)


def holds(program):
    return program.table.content["photo"] == ["pixels"]


def tell(program):
    return f"content {program.table.content}"


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

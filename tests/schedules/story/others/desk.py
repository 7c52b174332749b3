"""Two visitors get one number, and wait for each other: who leaves last is missed among those who wait."""

import threading


class Desk:
    def __init__(self):
        self.next = 0
        self.waiting = {}

    def enter(self, name):
        number = self.next
        self.waiting[number] = name
        self.next = number + 1
        return number


desk = Desk()
both = threading.Barrier(2)
greetings = []


def visit(name):
    number = desk.enter(name)
    greetings.append(f"{len(desk.waiting)} here")
    both.wait()
    del desk.waiting[number]


def main():
    threads = [threading.Thread(target=visit, args=(name,)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not desk.waiting


main()

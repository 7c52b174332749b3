"""Two visitors draw one number; that fails only if the second one has taken its place when the first one leaves."""

import threading


class Window:
    def __init__(self):
        self.next = 0
        self.waiting = {}

    def number(self):
        number = self.next
        self.next = number + 1
        return number


def visit(window, name):
    number = window.number()
    window.waiting[number] = name
    if len(window.waiting) > 9:
        return
    del window.waiting[number]


def main():
    window = Window()
    threads = [threading.Thread(target=visit, args=(window, name)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not window.waiting


main()

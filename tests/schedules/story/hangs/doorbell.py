"""A gate whose waiter does not look whether it is open before it waits."""

import threading


class Gate:
    def __init__(self):
        self._opened = threading.Condition()
        self.visitors = []

    def open(self, visitor):
        self.visitors.append(visitor)
        with self._opened:
            self._opened.notify()

    def enter(self):
        with self._opened:
            self._opened.wait()
        return self.visitors[-1]


def guard(gate):
    gate.open("ada")


def main():
    gate = Gate()
    porter = threading.Thread(target=guard, args=(gate,))
    porter.start()
    print("entered", gate.enter())
    porter.join()


main()

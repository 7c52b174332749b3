"""A shelf for one cake, with one condition for bakers and guests."""

import threading


class Shelf:
    def __init__(self):
        self.cake = None
        self.changed = threading.Condition()
        self.eaten = []

    def put(self, cake):
        with self.changed:
            while self.cake is not None:
                self.changed.wait()
            self.cake = cake
            self.changed.notify()

    def take(self):
        with self.changed:
            while self.cake is None:
                self.changed.wait()
            self.eaten.append(self.cake)
            self.cake = None
            self.changed.notify()


def make():
    return Shelf()


def baker(cake):
    def run(shelf):
        shelf.put(cake)

    return run


def eat(shelf):
    shelf.take()


WORKERS = (baker("apple"), eat, baker("plum"), eat)


def holds(shelf):
    return len(shelf.eaten) == 2


def tell(shelf):
    return f"eaten {shelf.eaten}"


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

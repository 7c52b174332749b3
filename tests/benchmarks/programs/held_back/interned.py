"""Colours of which there is one object for each name, for as long as somebody holds it."""

import threading
import weakref


class Colour:
    def __init__(self, name):
        self.name = name


class Palette:
    def __init__(self):
        self.lock = threading.RLock()
        self.known = {}

    def get(self, name):
        with self.lock:
            found = self.known.get(name)
            colour = found() if found is not None else None
            if colour is None:
                colour = Colour(name)
                self.known[name] = weakref.ref(colour, lambda gone: self.forget(name, gone))
            return colour

    def forget(self, name, gone):
        self.known.pop(name, None)


class Picture:
    def __init__(self):
        self.palette = Palette()
        self.lock = threading.Lock()
        self.cells = []
        self.tried = 0

    def paint(self, name):
        colour = self.palette.get(name)
        with self.lock:
            self.cells.append(colour)

    def try_out(self, name):
        colour = self.palette.get(name)
        with self.lock:
            self.tried += len(colour.name)


def make():
    return Picture()


def trier(*names):
    def run(picture):
        for name in names:
            picture.try_out(name)

    return run


def painter(*names):
    def run(picture):
        for name in names:
            picture.paint(name)

    return run


WORKERS = (trier("red", "blue", "red"), painter("red", "green"), painter("blue", "red"))


def holds(picture):
    objects = {(cell.name, id(cell)) for cell in picture.cells}
    return len(picture.cells) == 4 and len(objects) == 3


def tell(picture):
    return f"cells {[(cell.name, id(cell)) for cell in picture.cells]}"


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

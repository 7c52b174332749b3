"""A screen with two buffers: one is shown while the other is painted."""

import threading


class Screen:
    def __init__(self):
        self.front = [0, 0, 0]
        self.back = [0, 0, 0]
        self.seen = []

    def paint(self, colour):
        for place in range(len(self.back)):
            self.back[place] = colour
        self.front, self.back = self.back, self.front

    def show(self):
        shown = self.front
        picture = []
        for colour in shown:
            picture.append(colour)
        self.seen.append(picture)


def make():
    return Screen()


def paint(screen):
    for colour in (1, 2, 3):
        screen.paint(colour)


def show(screen):
    screen.show()


WORKERS = (paint, show)


def holds(screen):
    return all(len(set(picture)) == 1 for picture in screen.seen)


def tell(screen):
    return f"seen {screen.seen}"


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

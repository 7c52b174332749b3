"""Rows of an image worked on in three threads; the rest of each is counted without the lock."""

import threading


class Progress:
    def __init__(self):
        self.pixels = 0
        self.lock = threading.Lock()

    def add(self, pixels):
        self.pixels = self.limited(self.pixels + pixels)

    def limited(self, pixels):
        return min(pixels, 10_000)


class Image:
    def __init__(self):
        self.progress = Progress()
        self.rows = {}


def make():
    return Image()


def brighten(first):
    def run(image):
        pending = 0
        for row in range(first, first + 4):
            values = []
            for column in range(25):
                values.append((row * column * 7 + 40) % 256)
                pending += 1
                if pending == 30:
                    with image.progress.lock:
                        image.progress.add(pending)
                    pending = 0
            image.rows[row] = values
        if pending:
            image.progress.add(pending)

    return run


WORKERS = (brighten(0), brighten(4), brighten(8))


def holds(image):
    return image.progress.pixels == 300


def tell(image):
    return f"{image.progress.pixels} of 300 pixels"


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

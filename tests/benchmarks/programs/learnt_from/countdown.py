"""A render in three parts; whoever finishes the last part puts the picture together."""

import threading


class Render:
    def __init__(self, parts):
        self.lock = threading.Lock()
        self.left = parts
        self.parts = {}
        self.pictures = []

    def assemble(self):
        picture = [self.parts[number] for number in sorted(self.parts)]
        self.pictures.append(picture)

    def finish(self, number, part):
        with self.lock:
            self.parts[number] = part
            self.left -= 1
        if self.left == 0:
            self.assemble()


def make():
    return Render(3)


def paint(number):
    def run(render):
        part = 0
        for pixel in range(3):
            part += pixel * number
        render.finish(number, part)

    return run


WORKERS = (paint(1), paint(2), paint(3))


def holds(render):
    return render.pictures == [[3, 6, 9]]


def tell(render):
    return f"pictures {render.pictures}"


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

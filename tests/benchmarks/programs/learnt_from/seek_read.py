"""An archive whose members are read from one open file by going to their place."""

import io
import threading


class Archive:
    def __init__(self, members):
        self.file = io.StringIO()
        self.places = {}
        for name, content in members.items():
            self.places[name] = (self.file.tell(), len(content))
            self.file.write(content)
        self.read_so_far = {}

    def read(self, name):
        start, size = self.places[name]
        self.file.seek(start)
        content = self.file.read(size)
        self.read_so_far[name] = content
        return content


CONTENTS = {"a.txt": "alpha", "b.txt": "beta and more", "c.txt": "gamma", "d.txt": "delta too"}


def make():
    return Archive(CONTENTS)


def extract(*names):
    def run(archive):
        for name in names:
            archive.read(name)

    return run


WORKERS = (extract("a.txt", "c.txt"), extract("b.txt", "d.txt"))


def holds(archive):
    return archive.read_so_far == CONTENTS


def tell(archive):
    return f"read {archive.read_so_far}"


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

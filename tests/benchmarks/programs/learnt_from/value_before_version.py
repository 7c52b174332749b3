"""A document saved only if its version is still the one that was read."""

import threading


class Document:
    def __init__(self):
        self.lock = threading.Lock()
        self.version = 1
        self.lines = ("title",)

    def save(self, version, lines):
        with self.lock:
            if version != self.version:
                return False
            self.version += 1
            self.lines = lines
            return True

    def append(self, line):
        while True:
            lines = (*self.lines, line.strip())
            if self.save(self.version, lines):
                return


def make():
    return Document()


def ann(document):
    for number in range(3):
        document.append(f"ann {number} ")


def bob(document):
    for number in range(3):
        document.append(f"bob {number} ")


WORKERS = (ann, bob)


def holds(document):
    return len(document.lines) == 7


def tell(document):
    return f"version {document.version}: {document.lines}"


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

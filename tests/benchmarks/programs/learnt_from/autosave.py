"""A document that is saved from time to time, and when it is closed, if it has changed."""

import threading


class Document:
    def __init__(self):
        self.lock = threading.Lock()
        self.lines = []
        self.changed = False
        self.disk = ""
        self.saves = 0

    def type(self, line):
        with self.lock:
            self.lines.append(line)
            self.changed = True

    def save(self):
        with self.lock:
            if not self.changed:
                return
            text = "\n".join(self.lines)
        self.disk = text
        self.saves += 1
        with self.lock:
            self.changed = False


def make():
    return Document()


def edit(document):
    for line in ("Dear Ann,", "thank you", "for the", "book.", "Bob"):
        document.type(line)
    document.save()


def autosave(document):
    document.save()


WORKERS = (edit, autosave, autosave)


def holds(document):
    return document.disk == "\n".join(document.lines)


def tell(document):
    return f"disk {document.disk!r}, lines {document.lines}"


def main():
    shared = make()
    timers = [threading.Timer(seconds, autosave, args=(shared,)) for seconds in (0.005, 0.01)]
    editor = threading.Thread(target=edit, args=(shared,))
    for thread in [*timers, editor]:
        thread.start()
    for thread in [*timers, editor]:
        thread.join()
    assert holds(shared), tell(shared)


if __name__ == "__main__":
    main()

"""Documents opened by several editors at once; the last to leave closes the document."""

import threading


class Document:
    def __init__(self, name):
        self.name = name
        self.users = 0
        self.closed = False
        self.lines = []

    def write(self, line):
        if self.closed:
            raise ValueError(f"{self.name} is closed")
        self.lines.append(line)


class Library:
    def __init__(self):
        self.lock = threading.Lock()
        self.documents = {}
        self.archive = {}
        self.finished = []

    def lookup(self, name):
        with self.lock:
            document = self.documents.get(name)
            if document is None:
                document = self.documents[name] = Document(name)
        return document

    def retain(self, document):
        with self.lock:
            document.users += 1

    def release(self, document):
        with self.lock:
            document.users -= 1
            if document.users == 0:
                document.closed = True
                self.documents.pop(document.name, None)
                self.archive.setdefault(document.name, []).extend(document.lines)

    def edit(self, name, line):
        document = self.lookup(name)
        self.retain(document)
        try:
            document.write(line)
        finally:
            self.release(document)


def make():
    return Library()


def editor(who, *names):
    def run(library):
        for name in names:
            library.edit(name, f"{who} was here")
        library.finished.append(who)

    return run


WORKERS = (editor("Ida", "plan", "budget"), editor("Jon", "minutes", "plan"), editor("Kim", "budget"))


def holds(library):
    return len(library.finished) == 3 and sum(map(len, library.archive.values())) == 5


def tell(library):
    return f"finished {library.finished}, archive {library.archive}"


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

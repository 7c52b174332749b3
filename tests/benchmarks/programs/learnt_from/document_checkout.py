"""Documents that one editor at a time may take out; who finds one taken is turned away."""

import threading


class Document:
    def __init__(self, *lines):
        self.lines = list(lines)
        self.editor = None

    def take_out(self, name):
        if self.editor is not None:
            return False
        self.editor = name
        return True

    def give_back(self):
        self.editor = None


class Archive:
    def __init__(self):
        self.documents = {"rules": Document("be kind"), "menu": Document("soup")}
        self.lock = threading.Lock()
        self.accepted = []
        self.refused = []

    def add_line(self, name, title, line):
        document = self.documents[title]
        if not document.take_out(name):
            with self.lock:
                self.refused.append(line)
            return
        draft = list(document.lines)
        draft.append(line)
        document.lines = draft
        document.give_back()
        with self.lock:
            self.accepted.append((title, line))


def make():
    return Archive()


def editor(name, **lines):
    def run(archive):
        for title, line in lines.items():
            archive.add_line(name, title, line)

    return run


WORKERS = (
    editor("ruth", rules="be early", menu="salad"),
    editor("hugo", menu="fish"),
    editor("nora", rules="be brief"),
)


def holds(archive):
    accepted, refused = archive.accepted, archive.refused
    return len(accepted) + len(refused) == 4 and all(line in archive.documents[title].lines for title, line in accepted)


def tell(archive):
    lines = {title: document.lines for title, document in archive.documents.items()}
    return f"accepted {archive.accepted}, refused {archive.refused}, lines {lines}"


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

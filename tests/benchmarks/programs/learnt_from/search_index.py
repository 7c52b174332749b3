"""An index of notes that is built anew while notes are written and deleted."""

import threading


def index_of(notes):
    index = {}
    for number, text in notes.items():
        for word in text.split():
            index.setdefault(word, set()).add(number)
    return index


class Notes:
    def __init__(self):
        self.notes = {1: "buy milk", 2: "call bob"}
        self.index = {}

    def rebuild(self):
        self.index = index_of(dict(self.notes))

    def add(self, number, text):
        self.notes[number] = text
        for word in text.split():
            self.index.setdefault(word, set()).add(number)

    def delete(self, number):
        text = self.notes.pop(number)
        for word in text.split():
            self.index.get(word, set()).discard(number)


def make():
    return Notes()


def rebuild(notes):
    notes.rebuild()


def add(notes):
    notes.add(3, "call ann")


def delete(notes):
    notes.delete(1)


WORKERS = (rebuild, add, delete)


def holds(notes):
    found = {word: numbers for word, numbers in notes.index.items() if numbers}
    return found == index_of(notes.notes)


def tell(notes):
    return f"index {notes.index}"


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

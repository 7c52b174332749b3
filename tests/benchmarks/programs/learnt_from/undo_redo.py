"""A text that is typed by one and undone by the other."""

import threading


class Text:
    def __init__(self):
        self.words = ["once", "upon"]
        self.done = ["once", "upon"]
        self.undone = []

    def type(self, word):
        self.words.append(word)
        self.done.append(word)
        self.undone.clear()

    def undo(self):
        if self.done:
            word = self.done.pop()
            self.words.pop()
            self.undone.append(word)


def make():
    return Text()


def type_words(text):
    for word in ("a", "time"):
        text.type(word)


def undo(text):
    text.undo()


WORKERS = (type_words, undo)


def holds(text):
    return text.words == text.done


def tell(text):
    return f"words {text.words}, done {text.done}"


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

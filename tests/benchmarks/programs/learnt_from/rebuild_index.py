"""An index that is rebuilt while it is in use: what comes meanwhile is put aside and added at the end."""

import threading


class Index:
    def __init__(self, *words):
        self.lock = threading.Lock()
        self.words = list(words)
        self.aside = []
        self.rebuilding = False

    def place(self):
        with self.lock:
            return self.aside if self.rebuilding else self.words

    def add(self, word):
        place = self.place()
        place.append(word)

    def begin(self):
        with self.lock:
            self.rebuilding = True
            self.aside = []
            return list(self.words)

    def end(self, words):
        with self.lock:
            self.words[:] = words
            self.words.extend(self.aside)
            self.rebuilding = False

    def rebuild(self):
        words = self.begin()
        tidy = []
        for word in words:
            if word.lower() not in tidy:
                tidy.append(word.lower())
        self.end(tidy)


def make():
    return Index("Apple", "pear", "apple")


def editor(*words):
    def run(index):
        for word in words:
            index.add(word)

    return run


def keeper(index):
    index.rebuild()


WORKERS = (editor("plum"), keeper, editor("fig", "quince"))


def holds(index):
    return {"apple", "pear", "plum", "fig", "quince"} <= {word.lower() for word in index.words}


def tell(index):
    return f"words {index.words}, aside {index.aside}"


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

"""Pages fetched in three threads and put together in the order in which they were asked for."""

import threading


class Book:
    def __init__(self):
        self.asked = []
        self.fetched = []
        self.lock = threading.Lock()

    def ask(self, title):
        with self.lock:
            self.asked.append(title)

    def fetch(self, title):
        text = []
        for letter in title:
            text.append(letter.upper())
        with self.lock:
            self.fetched.append("".join(text))

    def pages(self):
        return dict(zip(self.asked, self.fetched, strict=True))


def make():
    return Book()


def fetch(title):
    def run(book):
        book.ask(title)
        book.fetch(title)

    return run


WORKERS = (fetch("start"), fetch("middle"), fetch("end"))


def holds(book):
    return all(title.upper() == text for title, text in book.pages().items())


def tell(book):
    return f"pages {book.pages()}"


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

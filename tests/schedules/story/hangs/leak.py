"""A counter that leaves its lock behind when a reader is in the way; seen by the next to come."""

import threading


class Shelf:
    def __init__(self):
        self.guard = threading.Lock()
        self.books = ["a", "b"]
        self.readers = 0

    def enter(self):
        self.readers += 1

    def leave(self):
        self.readers -= 1

    def take(self):
        self.guard.acquire()
        if self.readers:
            return None
        book = self.books.pop()
        self.guard.release()
        return book


shelf = Shelf()


def visitor():
    shelf.enter()
    shelf.leave()


def borrower():
    shelf.take()
    shelf.take()


def main():
    threads = [threading.Thread(target=visitor), threading.Thread(target=borrower)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("left", len(shelf.books))


main()

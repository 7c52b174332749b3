"""Meetings that book a room and a projector, and give back the one if the other is taken."""

import threading


class Thing:
    def __init__(self, name):
        self.name = name
        self.lock = threading.Lock()
        self.taken_by = None

    def take(self, who):
        with self.lock:
            if self.taken_by is None:
                self.taken_by = who
                return True
            return False

    def give_back(self):
        with self.lock:
            self.taken_by = None


class Office:
    def __init__(self):
        self.room = Thing("room")
        self.projector = Thing("projector")
        self.meetings = []

    def book(self, who, first, second):
        if not first.take(who):
            return
        if not second.take(who):
            first.give_back()
            return
        self.meetings.append(who)


def make():
    return Office()


def sales(office):
    office.book("sales", office.room, office.projector)


def board(office):
    office.book("board", office.projector, office.room)


WORKERS = (sales, board)


def holds(office):
    return len(office.meetings) == 1


def tell(office):
    return f"meetings {office.meetings}"


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

"""A ferry closes its bar when the last passenger has left it; others may come on board."""

import threading


class Ferry:
    def __init__(self):
        self.guard = threading.Lock()
        self.passengers = 0
        self.open = True

    def board(self):
        with self.guard:
            if not self.open:
                return False
            self.passengers += 1
            return True

    def buy(self):
        if not self.open:
            raise LookupError("the bar is closed")

    def leave(self):
        with self.guard:
            self.passengers -= 1
            is_empty = self.passengers == 0
        if is_empty:
            self.open = False


def travel(ferry, complaints):
    if ferry.board():
        try:
            ferry.buy()
        except LookupError as complaint:
            complaints.append(complaint)
        ferry.leave()


def main():
    ferry, complaints = Ferry(), []
    threads = [threading.Thread(target=travel, args=(ferry, complaints)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not complaints, complaints


main()

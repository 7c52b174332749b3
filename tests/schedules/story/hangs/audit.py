"""Members log each other's visits, and a log handler counts the members: logging has a lock of its own."""

import logging
import threading


class Members:
    def __init__(self):
        self.guard = threading.Lock()
        self.names = []

    def welcome(self, name):
        with self.guard:
            self.names.append(name)
            logging.getLogger("door").warning("%s came", name)

    def count(self):
        with self.guard:
            return len(self.names)


class Counting(logging.Handler):
    def __init__(self, members):
        super().__init__()
        self.members = members
        self.lines = []

    def emit(self, record):
        inside = self.members.count() if record.name == "bar" else None
        self.lines.append((record.getMessage(), inside))


def main():
    members = Members()
    logging.getLogger().addHandler(Counting(members))
    door = threading.Thread(target=members.welcome, args=("Ada",))
    bar = threading.Thread(target=logging.getLogger("bar").warning, args=("last round",))
    for thread in (door, bar):
        thread.start()
    for thread in (door, bar):
        thread.join()


if __name__ == "__main__":
    main()

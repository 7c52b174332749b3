"""A mailbox emptied on an event, which is cleared after the look instead of before."""

import threading


class Mailbox:
    def __init__(self):
        self.letters = []
        self.arrived = threading.Event()

    def post(self, letter):
        self.letters.append(letter)
        self.arrived.set()

    def collect(self):
        self.arrived.wait()
        taken = []
        while self.letters:
            taken.append(self.letters.pop(0))
        self.arrived.clear()
        return taken


class Office:
    def __init__(self):
        self.mailbox = Mailbox()
        self.read = []


def make():
    return Office()


def clerk(office):
    while len(office.read) < 3:
        office.read.extend(office.mailbox.collect())


def sender(office):
    for letter in ("bill", "card", "note"):
        office.mailbox.post(letter)


WORKERS = (clerk, sender)


def holds(office):
    return office.read == ["bill", "card", "note"]


def tell(office):
    return f"read {office.read}"


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

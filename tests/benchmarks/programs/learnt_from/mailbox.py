"""A mailbox whose owner sleeps until an event tells that there is post."""

import threading


class Mailbox:
    def __init__(self):
        self.lock = threading.Lock()
        self.arrived = threading.Event()
        self.letters = []

    def post(self, letter):
        with self.lock:
            self.letters.append(letter)
        self.arrived.set()

    def empty(self):
        with self.lock:
            letters, self.letters = self.letters, []
        return letters


class Office:
    def __init__(self, expected):
        self.mailbox = Mailbox()
        self.expected = expected
        self.filed = {}
        self.count = 0

    def file(self, letter):
        sender, _, subject = letter.partition(": ")
        self.filed.setdefault(sender, []).append(subject)
        self.count += 1

    def serve(self):
        while self.count < self.expected:
            self.mailbox.arrived.wait()
            for letter in self.mailbox.empty():
                self.file(letter)
            self.mailbox.arrived.clear()


def make():
    return Office(expected=5)


def owner(office):
    office.serve()


def sender(name, *subjects):
    def run(office):
        for subject in subjects:
            office.mailbox.post(f"{name}: {subject}")

    return run


WORKERS = (owner, sender("bank", "statement", "offer"), sender("aunt", "greetings", "recipe", "thanks"))


def holds(office):
    return office.count == 5


def tell(office):
    return f"filed {office.filed}"


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

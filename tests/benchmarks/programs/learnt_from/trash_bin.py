"""Deleted notes lie in a bin for a moment, and can be taken out again until a timer empties it."""

import threading
import time

KEPT = 0.02
THINKING = 0.005


class Notes:
    def __init__(self, *names):
        self.notes = {name: f"text of {name}" for name in names}
        self.bin = {}
        self.timers = {}

    def delete(self, name):
        self.bin[name] = self.notes.pop(name)
        timer = threading.Timer(KEPT, self.purge, (name,))
        self.timers[name] = timer
        timer.start()

    def purge(self, name):
        self.bin.pop(name, None)

    def undo(self, name):
        if name not in self.bin:
            return "too late"
        self.timers[name].cancel()
        self.notes[name] = self.bin.pop(name)
        return "undone"


class Desk:
    def __init__(self):
        self.notes = Notes("milk", "taxes", "poem")
        self.answers = {}

    def regret(self, name):
        self.notes.delete(name)
        time.sleep(THINKING)
        self.answers[name] = self.notes.undo(name)


def make():
    return Desk()


def user(name):
    def run(desk):
        desk.regret(name)

    return run


WORKERS = (user("milk"), user("poem"))


def holds(desk):
    notes = desk.notes
    return set(desk.answers) == {"milk", "poem"} and all(
        (name in notes.notes) == (answer == "undone") for name, answer in desk.answers.items()
    )


def tell(desk):
    return f"answers {desk.answers}, notes {sorted(desk.notes.notes)}"


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

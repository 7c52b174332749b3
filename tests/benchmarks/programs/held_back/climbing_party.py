"""Climbers who wait for each other at each camp; some turn back earlier than others."""

import threading


class Party:
    def __init__(self, members):
        self.changed = threading.Condition()
        self.members = members
        self.arrived = 0
        self.camp = 0

    def meet(self):
        with self.changed:
            camp = self.camp
            self.arrived += 1
            if self.arrived == self.members:
                self.go_on()
            while self.camp == camp:
                self.changed.wait()

    def go_on(self):
        self.arrived = 0
        self.camp += 1
        self.changed.notify_all()

    def turn_back(self):
        with self.changed:
            self.members -= 1


class Mountain:
    def __init__(self, members):
        self.party = Party(members)
        self.lock = threading.Lock()
        self.book = []

    def climb(self, name, camps):
        for camp in range(camps):
            self.party.meet()
            with self.lock:
                self.book.append((camp, name))
        self.party.turn_back()


def make():
    return Mountain(4)


def climber(name, camps):
    def run(mountain):
        mountain.climb(name, camps)

    return run


WORKERS = (climber("mia", 2), climber("jan", 2), climber("eva", 2), climber("tom", 1))


def holds(mountain):
    return len(mountain.book) == 7 and mountain.party.members == 0


def tell(mountain):
    return f"book {mountain.book}"


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

"""A counter where customers draw a number and are served in that order."""

import threading


class Counter:
    def __init__(self):
        self.turn = threading.Condition()
        self.drawn = 0
        self.serving = 0
        self.cash = 0

    def draw(self):
        with self.turn:
            number = self.drawn
            self.drawn += 1
        return number

    def await_turn(self, number):
        with self.turn:
            while self.serving != number:
                self.turn.wait()

    def leave(self):
        with self.turn:
            self.serving += 1
            self.turn.notify()

    def pay(self, cents):
        number = self.draw()
        self.await_turn(number)
        self.cash += cents
        self.leave()


class PostOffice:
    def __init__(self):
        self.counter = Counter()
        self.lock = threading.Lock()
        self.served = []

    def send(self, name, grams):
        cents = 85 if grams <= 20 else 160
        self.counter.pay(cents)
        with self.lock:
            self.served.append(name)


def make():
    return PostOffice()


def customer(name, *letters):
    def run(office):
        for grams in letters:
            office.send(name, grams)

    return run


WORKERS = (customer("otto", 15), customer("lena", 50), customer("kurt", 20), customer("rosa", 70))


def holds(office):
    return len(office.served) == 4 and office.counter.cash == 490


def tell(office):
    return f"served {office.served}, cash {office.counter.cash}"


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

"""A barrier used in two rounds with a pause between."""

import threading
import time


class Barrier:
    def __init__(self, parties):
        self.parties = parties
        self.arrived = 0
        self.changed = threading.Condition()

    def wait(self):
        with self.changed:
            self.arrived += 1
            if self.arrived == self.parties:
                self.arrived = 0
                self.changed.notify_all()
            while self.arrived != 0:
                self.changed.wait()


class Game:
    def __init__(self):
        self.barrier = Barrier(2)
        self.moves = []


def make():
    return Game()


def play(game):
    for number in range(2):
        game.moves.append(number)
        game.barrier.wait()
        time.sleep(0.001)


WORKERS = (play, play)


def holds(game):
    return len(game.moves) == 4


def tell(game):
    return f"moves {game.moves}"


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

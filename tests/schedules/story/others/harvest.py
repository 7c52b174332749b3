"""Pickers weigh what they have; the first one who is done writes the whole weight, and all tell their share of it."""

import threading


class Harvest:
    def __init__(self, baskets):
        self.baskets = baskets
        self.weights = [0] * len(baskets)
        self.whole = None
        self.told = {}
        self.all_done = threading.Barrier(len(baskets))

    def pick(self, number):
        for apple in self.baskets[number]:
            self.weights[number] += apple
        if self.all_done.wait() == 0:
            self.whole = sum(self.weights)
        share = f"{self.weights[number]} of {self.whole}" if self.whole else ""
        self.told[number] = share


def main():
    harvest = Harvest([[3, 2], [4], [1, 1]])
    threads = [threading.Thread(target=harvest.pick, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(harvest.told.values()), harvest.told


main()

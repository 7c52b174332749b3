"""Two diners who put their first fork down whenever the second one is taken, for ever."""

import threading
import time


class Diner:
    def __init__(self, name, first, second):
        self.name = name
        self.first = first
        self.second = second
        self.meals = 0

    def eat(self):
        while not self.meals:
            self.first.acquire()
            time.sleep(0.01)
            if self.second.acquire(blocking=False):
                self.meals += 1
                self.second.release()
            else:
                time.sleep(0.01)
            self.first.release()
            time.sleep(0.01)


def main():
    forks = [threading.Lock(), threading.Lock()]
    diners = [Diner("ada", forks[0], forks[1]), Diner("bob", forks[1], forks[0])]
    threads = [threading.Thread(target=diner.eat, name=diner.name) for diner in diners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print([diner.meals for diner in diners])


main()

"""A kitchen hatch with room for one plate; cooks and waiters ring the same bell."""

import threading

ROOM = 1


class Hatch:
    def __init__(self):
        self.bell = threading.Condition()
        self.plates = []
        self.served = []

    def hand_out(self, plate):
        with self.bell:
            while len(self.plates) >= ROOM:
                self.bell.wait()
            self.plates.append(plate)
            self.bell.notify()

    def fetch(self):
        with self.bell:
            while not self.plates:
                self.bell.wait()
            plate = self.plates.pop()
            self.bell.notify()
        return plate


RECIPES = {"soup": ("carrot", "leek"), "stew": ("beef", "onion", "ale")}


def cook_dish(dish):
    done = []
    for ingredient in RECIPES[dish]:
        done.append(f"cooked {ingredient}")
    return f"{dish} of {' and '.join(done)}"


def make():
    return Hatch()


def cook(dish):
    def run(hatch):
        hatch.hand_out(cook_dish(dish))

    return run


def waiter(table):
    def run(hatch):
        plate = hatch.fetch()
        hatch.served.append((table, plate))

    return run


WORKERS = (cook("soup"), cook("stew"), waiter(1), waiter(2))


def holds(hatch):
    return len(hatch.served) == 2


def tell(hatch):
    return f"served {hatch.served}"


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

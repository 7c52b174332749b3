"""A wheel of timers that is turned while timers are put on it."""

import threading


class Wheel:
    def __init__(self):
        self.now = 0
        self.slots = [[] for _ in range(8)]
        self.fired = []

    def put(self, name, delay):
        due = self.now + delay
        slot = self.slots[due % 8]
        slot.append((due, name))

    def turn(self):
        self.now += 1
        slot = self.slots[self.now % 8]
        while slot:
            self.fired.append(slot.pop())


class House:
    def __init__(self):
        self.wheel = Wheel()

    def overdue(self):
        wheel = self.wheel
        return [timer for slot in wheel.slots for timer in slot if timer[0] <= wheel.now]


def make():
    return House()


def put(house):
    house.wheel.put("lights", 3)
    house.wheel.put("heating", 1)


def turn(house):
    for _ in range(4):
        house.wheel.turn()


WORKERS = (put, turn)


def holds(house):
    return not house.overdue()


def tell(house):
    return f"overdue {house.overdue()}"


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

"""Two robots that share an arm: each raises its flag after it has seen that the other's is down."""

import threading


class Arm:
    def __init__(self):
        self.flags = {"left": False, "right": False}
        self.holders = set()
        self.clashes = []

    def use(self, name, other):
        if self.flags.get(other):
            return False
        self.flag(name, up=True)
        self.holders.add(name)
        self.turn(name)
        if len(self.holders) > 1:
            self.clashes.append(sorted(self.holders))
        self.holders.discard(name)
        self.flag(name, up=False)
        return True

    def flag(self, name, up):
        self.flags[name] = up

    def turn(self, name):
        return name[::-1]


def make():
    return Arm()


def left(arm):
    arm.use("left", "right")


def right(arm):
    arm.use("right", "left")


WORKERS = (left, right)


def holds(arm):
    return not arm.clashes


def tell(arm):
    return f"clashes: {arm.clashes}"


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

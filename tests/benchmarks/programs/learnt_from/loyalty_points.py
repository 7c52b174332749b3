"""Points that customers of a chain of shops collect, at several tills at once."""

import threading

STEPS = ((1000, "gold"), (300, "silver"), (0, "plain"))


class Customer:
    def __init__(self, name):
        self.name = name
        self.points = 0

    def level(self):
        return next(level for points, level in STEPS if self.points >= points)


class Programme:
    def __init__(self, *names):
        self.customers = {name: Customer(name) for name in names}
        self.double_days = {"sunday"}

    def points_for(self, cents, day):
        points = cents // 100
        return points * 2 if day in self.double_days else points

    def buy(self, name, cents, day):
        customer = self.customers[name]
        with threading.Lock():
            points = self.points_for(cents, day)
            if customer.level() == "gold":
                points += points // 10
            before = customer.points
            customer.points = before + points


def make():
    return Programme("ann", "bob", "cleo")


def till(day, *purchases):
    def run(programme):
        for name, cents in purchases:
            programme.buy(name, cents, day)

    return run


WORKERS = (
    till("monday", ("ann", 1250), ("bob", 300)),
    till("sunday", ("cleo", 890), ("ann", 410)),
    till("monday", ("bob", 2000), ("cleo", 100)),
)

EXPECTED = {"ann": 20, "bob": 23, "cleo": 17}


def points_of(programme):
    return {name: customer.points for name, customer in programme.customers.items()}


def holds(programme):
    return points_of(programme) == EXPECTED


def tell(programme):
    return f"points {points_of(programme)} instead of {EXPECTED}"


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

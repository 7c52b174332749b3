"""A car park with two places that turns cars away while it is full."""

import threading

PLACES = 2


class CarPark:
    def __init__(self):
        self.places = threading.BoundedSemaphore(PLACES)
        self.lock = threading.Lock()
        self.parked = 0
        self.turned_away = 0
        self.gone = []

    def visit(self, car, hours):
        free = self.places.acquire(blocking=False)
        try:
            if not free:
                with self.lock:
                    self.turned_away += 1
                return 0
            with self.lock:
                self.parked += 1
            return self.fee(hours)
        finally:
            self.places.release()

    def fee(self, hours):
        return 3 + 2 * max(0, hours - 1)


def make():
    return CarPark()


def driver(car, *stays):
    def run(car_park):
        paid = 0
        for hours in stays:
            paid += car_park.visit(car, hours)
        car_park.gone.append((car, paid))

    return run


WORKERS = (driver("red", 1, 4), driver("blue", 2), driver("grey", 3, 1), driver("pink", 5), driver("lime", 2, 2))


def holds(car_park):
    return len(car_park.gone) == len(WORKERS)


def tell(car_park):
    return f"gone {car_park.gone}"


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
